import { isDeepStrictEqual } from "node:util";
import { judgedZap, zapClips } from "../../fixtures/zapClips.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";

/** Clips of which every time is right to the frame. */
export async function measureZaps({ note }: Pick<Bench, "note">): Promise<Measurement[]> {
  let exact = 0;
  for (const clip of zapClips) {
    const { found, truth } = await judgedZap(clip);
    if (isDeepStrictEqual({ ...found }, { ...truth })) exact++;
    else note(`zaps: ${clip.name}: ${JSON.stringify(found)}, and true is ${JSON.stringify(truth)}`);
  }
  return [{ id: "zaps.exact", ours: exact, runs: zapClips.length }];
}
