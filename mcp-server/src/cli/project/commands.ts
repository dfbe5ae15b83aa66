import type { Command } from "commander";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import type { DaemonOptions } from "../options.ts";
import type { ExitCode, Terminal } from "../terminal.ts";

/** `init, lint, import, export`: apps and tests as files. */
export function addProjectCommands(
  program: Command,
  terminal: Terminal,
  exit: (code: ExitCode) => void,
): void {
  withDaemonOptions(program.command("init"))
    .description("looks at a page and writes its app and a test that passes into labwright/")
    .argument("[url]", "the page; in a terminal init asks for it")
    .option("--device <id>", "the device to look with")
    .addHelpText("after", examples("labwright init http://localhost:3000"))
    .action(async (url: string | undefined, given: DaemonOptions & { device?: string }) => {
      const { runInit } = await import("./init.ts");
      exit(await runInit({ ...given, url }, terminal));
    });
  withDaemonOptions(program.command("lint"))
    .description("says what is wrong and what is weak in apps, tests and labwright.yaml; saves nothing")
    .argument("[path...]", "files, or folders of them; labwright when none is named")
    .addHelpText("after", examples("labwright lint", "labwright lint labwright/tests/login.yaml"))
    .addHelpText(
      "after",
      "\nExit codes:\n  0 nothing is wrong, perhaps with warnings, 2 something is wrong\n",
    )
    .action(async (paths: string[], given: DaemonOptions) => {
      const { runLint } = await import("./lint.ts");
      exit(await runLint(paths, given, terminal));
    });
  withDaemonOptions(program.command("import"))
    .description("saves the apps and tests of YAML and feature files in place of those with the same names")
    .argument("<path...>", "files, or folders of them")
    .addHelpText("after", examples("labwright import labwright", "labwright import shop.yaml"))
    .action(async (paths: string[], given: DaemonOptions) => {
      const { runImport } = await import("./transfer.ts");
      exit(await runImport(paths, given, terminal));
    });
  withDaemonOptions(program.command("export"))
    .description("prints an app with its tests as YAML, or writes it into a file")
    .argument("<app>", "its name")
    .option("--out <file>", "the file to write")
    .option("--force", "replaces an existing file")
    .addHelpText(
      "after",
      examples("labwright export shop", "labwright export shop --out labwright/apps/shop.yaml"),
    )
    .action(async (app: string, given: DaemonOptions & { out?: string; force?: boolean }) => {
      const { runExport } = await import("./transfer.ts");
      exit(await runExport(app, given, terminal));
    });
}
