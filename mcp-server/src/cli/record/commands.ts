import type { Command } from "commander";
import { examples, withDaemonOptions } from "../commandOptions.ts";
import type { ExitCode, Terminal } from "../terminal.ts";
import type { RecordOptions } from "./record.ts";

/** `record`. */
export function addRecordCommand(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("record"))
    .description("opens a browser's window, and makes a test of what you do in it")
    .argument("<url>", "the page to begin with")
    .option("--app <name>", "the app: its file in labwright/apps gets the screens that you name")
    .option("--name <name>", "the test's name; in a terminal record asks for it")
    .option("--device <id>", "the browser of which a copy with a window is opened")
    .option("--cdp <url>", "a Chromium of this machine with remote debugging, in place of a new browser")
    .option("--force", "replaces an existing test")
    .addHelpText(
      "after",
      examples(
        "labwright record http://localhost:3000 --app shop",
        'labwright record http://localhost:3000 --cdp http://127.0.0.1:9222 --name "sign in"',
      ),
    )
    .addHelpText(
      "after",
      "\nPress F2 in the browser, then click what the test must check. A password is never recorded: the test has {{secret.NAME}} in its place.\n",
    )
    .action(async (url: string, given: RecordOptions) => {
      const { runRecord } = await import("./record.ts");
      exit(await runRecord(url, given, terminal));
    });
}
