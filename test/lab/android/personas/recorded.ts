import { z } from "zod";
import type { Delay } from "./delays.ts";
import type { Persona } from "./persona.ts";

const words = z.record(z.string(), z.string());
const schema = z.object({
  apiLevel: z.int().min(21),
  isTv: z.boolean(),
  screen: z.object({ width: z.int(), height: z.int(), density: z.int() }),
  properties: words,
  features: z.array(z.string()),
  settings: z.object({ system: words, secure: words, global: words }),
  packages: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      versionCode: z.int(),
      versionName: z.string(),
      isSystem: z.boolean(),
    }),
  ),
  outputs: words,
  delays: z.array(z.object({ command: z.string(), ms: z.number(), source: z.string() })),
});

/** Reads a file that `labwright android record` wrote of a real device. Throws for any other file. */
export function readRecording(json: string): { persona: Persona; delays: readonly Delay[] } {
  const { delays, ...persona } = schema.parse(JSON.parse(json));
  return { persona, delays };
}
