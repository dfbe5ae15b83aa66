import type { RunTerminal } from "./connection.ts";

const clearLine = "\r\u001b[K";

/**
 * The terminal of a run with a line at its end that says what runs now. Other output takes the line away first. Nothing is
 * shown where the output is no terminal, or one that cannot rewrite a line.
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
