import { hasColor, wrapText } from "../terminal.ts";
import type { RunTerminal } from "./connection.ts";

const red = 31;
const green = 32;
const yellow = 33;
const colors: Readonly<Record<string, number>> = { passed: green, failed: red };

/** The verdict of a test. In a run of several, the count of tests that have ended comes first. */
export function progressText(
  { done, total }: { done: number; total: number },
  verdict: string,
  { status, flaky }: { status: string; flaky: boolean },
  terminal: Pick<RunTerminal, "columns" | "env">,
): string {
  const count = total > 1 ? `[${done}/${total}] ` : "";
  const text = wrapText(`${count}${verdict}`, terminal.columns);
  if (!hasColor(terminal)) return text;
  const color = flaky ? yellow : (colors[status] ?? yellow);
  const word = flaky ? "flaky" : status;
  // The count has no letters, so the first place of the word is the verdict.
  return text.replace(word, `\u001b[${color}m${word}\u001b[39m`);
}
