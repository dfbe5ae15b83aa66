import { z } from "zod";
import { callTyped } from "../../mcp/calls.ts";
import type { Toolbox } from "../../ports.ts";

const hostsSchema = z.object({
  hosts: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      devices: z.array(z.object({ id: z.string(), model: z.string(), state: z.string() })),
    }),
  ),
});
export type Host = z.output<typeof hostsSchema>["hosts"][number];

export const hostsAt = async (toolbox: Pick<Toolbox, "call">, signal: AbortSignal): Promise<Host[]> =>
  (await callTyped(toolbox, { name: "list_hosts", input: {} }, hostsSchema, signal)).hosts;
