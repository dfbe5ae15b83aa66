import { z } from "zod";
import { nodeTypeSchema } from "./tree.ts";

/** How often it worked: rate with its 95 percent Wilson interval, 0..1, over `runs`. */
export const reliabilitySchema = z.object({
  action_set: z.string().optional(),
  runs: z.int(),
  success_rate: z.number(),
  low: z.number().describe("Of the 95% Wilson interval"),
  high: z.number(),
  median_ms: z.int(),
  kpi_median_ms: z.int().optional(),
});
export type Reliability = z.output<typeof reliabilitySchema>;

/** An app as people see it: places and the ways between them. Sources and targets are ids of nodes. */
export const appMapSchema = z.object({
  id: z.string(),
  name: z.string(),
  models: z.array(z.string()).describe("Device models that it runs on."),
  trees: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      below: z.string().optional().describe("The node it hangs on."),
    }),
  ),
  nodes: z.array(
    z.object({
      id: z.string(),
      label: z.string(),
      type: nodeTypeSchema,
      tree: z.string(),
      checks: z.int(),
      picture: z.string().optional().describe("A short-lived address, relative to the server."),
    }),
  ),
  edges: z.array(
    z.object({
      id: z.string(),
      source: z.string(),
      target: z.string(),
      back: z.boolean().describe("It has actions that lead back, too."),
      reliability: z.array(reliabilitySchema).describe("By action set; empty when it never ran."),
    }),
  ),
});
export type AppMap = z.output<typeof appMapSchema>;
