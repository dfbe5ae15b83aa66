import type { Command } from "commander";
import { examples, readUpTo } from "../commandOptions.ts";
import type { ExitCode, Terminal } from "../terminal.ts";

/** `labwright trace` and its options. */
export function addTraceCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("trace")
    .description("shows a trace in Playwright's viewer, on this machine alone, until Ctrl-C; needs no daemon")
    .argument("<file>", "a trace, such as run --trace on-failure keeps")
    .option("--port <port>", "the port to serve it on; a free one by default", readUpTo(1, 65_535))
    .addHelpText("after", examples("labwright trace reports/traces/3f2a.zip"))
    .action(async (file: string, { port }: { port?: number }) => {
      const { showTrace } = await import("./trace.ts");
      exit(await showTrace({ file, port }, terminal));
    });
}
