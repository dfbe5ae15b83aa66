import type { Command } from "commander";
import { ToolError } from "../../errors.ts";
import { separator, shortNames } from "../../services/apps/steps/index.ts";
import { examples, readUpTo } from "../commandOptions.ts";
import type { ExitCode, Terminal } from "../terminal.ts";
import type { FolderOptions, LookOptions } from "./folder.ts";
import type { KeepOptions } from "./keep.ts";

const namesText = (verb: keyof typeof shortNames) =>
  Object.entries(shortNames[verb])
    .map(([short, full]) => `${short} (${full})`)
    .join(", ");

type Exit = (code: ExitCode) => void;

/** `do, look, check, shot, go, take, release, keep`. One working folder drives one device until it releases it. */
export function addFolderCommands(program: Command, terminal: Terminal, exit: Exit): void {
  addVerbs(program, terminal, exit);
  addLooks(program, terminal, exit);
  addLease(program, terminal, exit);
  addKeep(program, terminal, exit);
}

const folderCommand = (program: Command, name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .option("--device <id>", "the device; by default the folder's own, else the free one")
    .option("--data-dir <dir>", "the folder of the server's data (LABWRIGHT_DATA_DIR)")
    .option("--config <file>", "labwright.yaml (LABWRIGHT_CONFIG)");

const ownOptions: Readonly<Record<string, keyof FolderOptions>> = {
  ...{ "--device": "device", "--data-dir": "dataDir", "--config": "config" },
};

/** The option that begins at a place among words, and how many words it takes. */
function optionAt(words: readonly string[], at: number) {
  const [name = "", ...rest] = (words[at] ?? "").split("=");
  const key = ownOptions[name];
  if (key === undefined) return undefined;
  const value = rest.length > 0 ? rest.join("=") : words[at + 1];
  if (value === undefined)
    throw new ToolError("INVALID_INPUT", `${name} needs a value.`, `For example: ${name} browser`);
  return { key, value, length: rest.length > 0 ? 1 : 2 };
}

/** The options of a folder's commands count anywhere among the words, except after `--`. */
function withoutOptions(
  words: readonly string[],
  given: FolderOptions,
): { line: string[]; options: FolderOptions } {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const line: string[] = [];
  const options = { ...given };
  for (let at = 0; at < own.length; ) {
    const option = optionAt(own, at);
    if (option) options[option.key] = option.value;
    else line.push(...own.slice(at, at + 1));
    at += option?.length ?? 1;
  }
  return { line: [...line, ...words.slice(own.length + 1)], options };
}

/** Words that are not options of the command line are the parameters of a command or check. */
function addVerbs(program: Command, terminal: Terminal, exit: Exit): void {
  const verb = (name: "do" | "check", description: string, listing: string) =>
    folderCommand(program, name, description)
      .passThroughOptions()
      .allowUnknownOption()
      .argument("<words...>", `a command with its element and values; "${separator}" begins the next`)
      .addHelpText(
        "after",
        `\nShort names: ${namesText(name)}. A name that the device has itself means just that. All others: labwright call ${listing}\n`,
      );

  verb("do", "does something on the device and says what changed", "list_actions")
    .addHelpText(
      "after",
      examples(
        "labwright do open https://shop.example",
        `labwright do fill e3 anna ${separator} fill e4 "{{secret.PASSWORD}}" ${separator} click "Sign in"`,
        "labwright do scroll down --amount 3",
        "labwright do press_keys CTRL A",
      ),
    )
    .action(async (words: string[], given: FolderOptions) => {
      const { runDo } = await import("./folder.ts");
      const { line, options } = withoutOptions(words, given);
      exit(await runDo(line, options, terminal));
    });
  verb(
    "check",
    "checks the screen; exit code 0: it holds, 1: it does not, 2: it could not be judged",
    "list_verifications",
  )
    .addHelpText(
      "after",
      examples(
        'labwright check text "Thank you" --timeout_ms 10000',
        `labwright check count css=.item 3 ${separator} not visible "#error"`,
      ),
    )
    .action(async (words: string[], given: FolderOptions) => {
      const { runCheck } = await import("./folder.ts");
      const { line, options } = withoutOptions(words, given);
      exit(await runCheck(line, options, terminal));
    });
}

function addLooks(program: Command, terminal: Terminal, exit: Exit): void {
  folderCommand(program, "look", "lists the elements on the screen, each with a ref for do and check")
    .option("--find <words>", "lists only elements that fit these words")
    .option("--all", "lists plain text too")
    .addHelpText("after", examples("labwright look", 'labwright look --find "sign in"'))
    .action(async (given: LookOptions) => {
      const { runLook } = await import("./folder.ts");
      exit(await runLook(given, terminal));
    });
  folderCommand(program, "shot", "writes a picture of the screen into .labwright/ and prints its path")
    .option("--marks", "draws the refs on it")
    .addHelpText("after", examples("labwright shot", "labwright shot --marks"))
    .action(async (given: FolderOptions & { marks?: boolean }) => {
      const { runShot } = await import("./folder.ts");
      exit(await runShot(given, terminal));
    });
  folderCommand(program, "go", "goes to a screen of an app by its name, and checks the arrival")
    .argument("<node>", "the screen's label")
    .option("--app <name>", "the app; by default the only one there is")
    .addHelpText("after", examples("labwright go Cart", 'labwright go "Order history" --app shop'))
    .action(async (node: string, given: FolderOptions & { app?: string }) => {
      const { runGo } = await import("./folder.ts");
      exit(await runGo(node, given, terminal));
    });
}

function addLease(program: Command, terminal: Terminal, exit: Exit): void {
  folderCommand(program, "take", "takes a device for this folder; do, look and check do so by themselves")
    .argument("[device]", "its name; by default the folder's own, else the free one")
    .addHelpText("after", examples("labwright take", "labwright take browser-2"))
    .addHelpText(
      "after",
      "\nIt is the folder's own from then on, also when it cannot be had now and when its lease ends.\nA command then takes it again or fails. No command takes another device in its place.\n",
    )
    .action(async (device: string | undefined, given: FolderOptions) => {
      const { runTake } = await import("./folder.ts");
      exit(await runTake({ ...given, device: device ?? given.device }, terminal));
    });
  folderCommand(program, "release", "gives the folder's device back, and forgets it")
    .addHelpText("after", examples("labwright release"))
    .action(async (given: FolderOptions) => {
      const { runRelease } = await import("./folder.ts");
      exit(await runRelease(given, terminal));
    });
}

function addKeep(program: Command, terminal: Terminal, exit: Exit): void {
  program
    .command("keep")
    .description("writes what passed here since the device was taken as a test into labwright/tests")
    .argument("<name>", "the test's name, which is also its file's")
    .option("--last <count>", "only this many of the latest commands and checks", readUpTo(1, 500))
    .option("--app <name>", "the app that the test is of; by default that of labwright go")
    .option("--force", "replaces an existing file")
    .option("--data-dir <dir>", "the folder of the server's data (LABWRIGHT_DATA_DIR)")
    .option("--config <file>", "labwright.yaml (LABWRIGHT_CONFIG)")
    .addHelpText(
      "after",
      examples('labwright keep "sign in"', 'labwright keep "add to cart" --last 6 --app shop'),
    )
    .action(async (name: string, given: KeepOptions) => {
      const { runKeep } = await import("./keep.ts");
      exit(await runKeep(name, given, terminal));
    });
}
