/** What the watch of a person's inputs sends out of a page, which is a stranger's data. The page itself takes only the types. */
import { z } from "zod";
import { candidateSchema } from "../answers.ts";

const target = z.object({
  /** Ranked, best first. */
  candidates: z.array(candidateSchema).max(50),
  role: z.string(),
  name: z.string(),
});
/** An element as it was before the page could react to the input. */
export type DeedTarget = z.output<typeof target>;

export const deedSchema = z.object({
  /** A command of browsers without its target, `pick` for an element that was pointed at, or `picking`: the person asks to point. */
  command: z.string().max(40),
  params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
  target: target.exactOptional(),
  onto: target.exactOptional(),
  /** How many clicks right before belong to it. */
  replaces: z.int().min(0).max(3).exactOptional(),
  /** Names the value of a secret field, which stays in the page. */
  secret: z.string().max(60).exactOptional(),
  /** Address of the frame, and whether it is the page's own. */
  frame: z.string(),
  isTop: z.boolean(),
});
export type Deed = z.output<typeof deedSchema>;
