import type { Command } from "commander";
import type { ExitCode, Terminal } from "../terminal.ts";

const examples = "\nExamples:\n  labwright report merge shard-1 shard-2 --report all\n";

/** `labwright report merge` and its options. */
export function addReportCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("report")
    .description("works on the reports that run --report wrote")
    .addHelpText("after", examples)
    .command("merge")
    .description("makes one report of several, such as those of shards; needs no daemon")
    .argument("<folder...>", "folders that labwright run --report wrote")
    .requiredOption("--report <dir>", "writes report.html, junit.xml and ctrf.json of all runs there")
    .addHelpText("after", examples)
    .action(async (folders: string[], { report }: { report: string }) => {
      const { mergeReports } = await import("./report.ts");
      exit(await mergeReports({ folders, report }, terminal));
    });
}
