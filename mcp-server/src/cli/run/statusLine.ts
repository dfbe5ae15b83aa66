import { hasColor, wrapText } from "../terminal.ts";
import type { RunTerminal } from "./connection.ts";

const clearLine = "\r\u001b[K";

/**
 * The terminal of a run with a line at its end that says what runs now. Other output takes the line away first. Nothing is
 * shown where the output is not a terminal, or one that cannot rewrite a line.
 */
export function withStatusLine(terminal: RunTerminal): RunTerminal & { status(text: string): void } {
  const { columns, env = {} } = terminal;
  const canRewrite = columns !== undefined && env.TERM !== "dumb";
  let isShown = false;
  const clear = () => {
    if (isShown) terminal.out(clearLine);
    isShown = false;
  };
  const after = (write: (text: string) => void) => (text: string) => {
    clear();
    write(text);
  };
  return {
    ...terminal,
    out: after(terminal.out),
    err: after(terminal.err),
    status(text) {
      clear();
      if (!canRewrite || text === "") return;
      // A line that is as wide as the terminal would go on in the next one, which is not cleared.
      terminal.out([...text.replace(/\s+/g, " ")].slice(0, columns - 1).join(""));
      isShown = true;
    },
  };
}

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
