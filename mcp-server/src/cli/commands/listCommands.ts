import { Argument, type Command } from "commander";
import { daemonOptions, examples, type Given, withDaemonOptions } from "../commandOptions.ts";
import type { ExitCode, Terminal } from "../terminal.ts";
import { type Listed, listed, runList } from "./list.ts";

/** `list` and `tools`: what there is to use. */
export function addListCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("list"))
    .description("lists devices with their holders, apps, tests, or the latest runs")
    .addArgument(new Argument("<what>", "what to list").choices(listed))
    .option("--json", "as JSON")
    .addHelpText("after", examples("labwright list devices", "labwright list runs --json"))
    .action(async (what: Listed, given: Given & { json?: boolean }) => {
      exit(await runList(what, { ...daemonOptions(given), json: given.json }, terminal));
    });
  program
    .command("tools")
    .description("lists the tools of this build by skill, or says what one of them takes; needs no daemon")
    .argument("[name]", "a tool, for its arguments and an example")
    .addHelpText("after", examples("labwright tools", "labwright tools execute_testcase"))
    .action(async (name: string | undefined) => {
      const { runTools } = await import("./tools.ts");
      exit(runTools(name, terminal));
    });
}
