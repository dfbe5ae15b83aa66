import type { Page } from "playwright-core";
import { nearestOf } from "../../elements/nearest.ts";
import { writeSelector } from "../../elements/selectors.ts";
import { askAgent } from "./askAgent.ts";
import { askFrames } from "./elementsInFrames.ts";

/** Up to five things on the screen whose name is most like `wanted`, as selectors, best first; empty when nothing is alike. */
export async function nearestOnScreen(page: Page, wanted: string, signal: AbortSignal): Promise<string[]> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "onScreen", [400]));
  const things = answers.flatMap(({ answer }) => answer);
  return nearestOf(wanted, things, { text: ({ name }) => name }).map(({ role, name }) =>
    writeSelector("role", name, role),
  );
}
