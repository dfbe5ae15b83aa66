import { type Command, InvalidArgumentError, Option } from "commander";
import { examples, readCount, readUpTo, withDaemonOptions } from "./commandOptions.ts";
import type { DemoOptions } from "./demo/demo.ts";
import type { DaemonOptions } from "./options.ts";
import { addProjectCommands } from "./project/commands.ts";
import type { ApiTestOptions } from "./run/apiTest.ts";
import type { RunOptions } from "./run/run.ts";
import type { ExitCode, Terminal } from "./terminal.ts";

type RunGiven = DaemonOptions &
  Omit<RunOptions, "testcases" | "inputs" | "tags"> & { tag: string[]; input: string[]; watch?: boolean };

export function addRunCommands(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  const command = program
    .command("run")
    .description("runs test cases and says how each ended; for CI")
    .argument(
      "[testcase...]",
      "names or ids of saved test cases, or YAML and feature files and folders, which are saved first; all when none is named",
    );
  for (const add of [addChoice, addDevices, addManner, addResults]) add(command);
  withDaemonOptions(command.optionsGroup("Server:"))
    .addHelpText(
      "after",
      examples(
        "labwright run labwright --report reports",
        "labwright run login checkout --device browser",
        "labwright run labwright/tests/login.yaml --input user=anna --repeat 3",
        "labwright run --tag smoke --workers 4 --shard 1/3 --report reports",
        'labwright run "sign in" --headed --slow 500',
        'labwright run "sign in" --debug',
        "labwright run --matrix chrome,firefox,webkit,phone --report reports",
        "labwright run labwright --watch",
        "labwright run labwright --last-failed --trace on-failure --video on-failure",
        "labwright run labwright --gate gate.yaml --report reports",
      ),
    )
    .addHelpText("after", gateRulesText)
    .addHelpText("after", exitCodesText)
    .action(async (testcases: string[], given: RunGiven) => {
      const { runOnDaemon } = await import("./run/watch.ts");
      const { input: inputs, tag: tags, ...rest } = given;
      exit(await runOnDaemon({ ...rest, testcases, inputs, tags }, terminal));
    });
  addApiTest(program, terminal, exit);
  addProjectCommands(program, terminal, exit);
  addDemo(program, terminal, exit);
}

const gateRulesText = `
Rules of a gate, in YAML; each is shown, kept or broken:
  pass_rate: 95            percent of the tests that must pass; 100 when left out
  new_flaky: 0             tests that are flaky and were not in the 30 days before
  coverage: 80             percent of the requirements that have a test
  requirements_passed: 75  percent of the requirements whose tests passed
  console_errors: 0        errors in the browser's console
  run_ms, test_ms: 60000   time of the whole run, and of the slowest test
`;

const exitCodesText = `
Exit codes:
  0 all passed, 1 a test failed, 130 interrupted; with --gate 0 all rules are kept, 1 one is broken
  2 something could not be judged, an entry of the matrix cannot be used, or the call is wrong
`;

const addChoice = (command: Command) =>
  command
    .optionsGroup("Which tests:")
    .option("--tag <tag>", "runs tests with this tag; several --tag run tests with any of them", append, [])
    .option("--grep <text>", "runs tests whose name contains this text, or matches /expression/")
    .option(
      "--shard <part/parts>",
      "runs one part of the tests, such as 1/3; all parts together are all tests",
      readShard,
    )
    .option("--last-failed", "runs tests that did not pass when they last ran from this folder")
    .option("--list", "names the tests and their files, and runs none")
    .option("--input <name=value>", "an input of the tests; give it once for each input", append, [])
    .option("--userinterface <name>", "the app to run against, in place of the test case's own");

const addDevices = (command: Command) =>
  command
    .optionsGroup("On which devices:")
    .option("--device <id>", "the device to run on")
    .option(
      "--wait-device <seconds>",
      "waits up to this time for a device that another client holds",
      readSeconds,
    )
    .option(
      "--workers <count>",
      "runs this many tests at a time, each on its own device; a browser is opened several times",
      readUpTo(1, 256),
    )
    .option(
      "--matrix <list>",
      "runs each test once on each of these: chrome, firefox, webkit, edge, or names, models and kinds of devices, such as phone",
      readMatrix,
    )
    .option("--headed", "shows the browser's window");

const addManner = (command: Command) =>
  command
    .optionsGroup("How they run:")
    .option("--watch", "runs again what changed in the files and folders, until Ctrl-C")
    .option("--repeat <count>", "runs all tests this many times", readUpTo(1, 1_000), 1)
    .option("--keep", "each test continues where the one before ended, and does not start fresh")
    .option("--retries <count>", "how often a test is retried", readUpTo(0, 10))
    .addOption(
      new Option(
        "--retry-on <outcome>",
        "error: retries only what could not be judged; any, by default: failures too",
      ).choices(["error", "any"]),
    )
    .option(
      "--max-failures <count>",
      "starts no more tests after this many did not pass",
      readUpTo(1, 1_000_000),
    )
    .option("--slow <ms>", "pauses after each command", readUpTo(0, 60_000))
    .option("--debug", "stops before each step, shows it and asks what to do");

const whenFailed = (flags: string, text: string) => new Option(flags, text).choices(["on-failure"]);

const addResults = (command: Command) =>
  command
    .optionsGroup("What is kept:")
    .option("--report <dir>", "writes report.html, junit.xml and ctrf.json there")
    .addOption(whenFailed("--trace <when>", "keeps the trace of a browser's test that did not pass"))
    .addOption(whenFailed("--video <when>", "keeps the video of a test that did not pass"))
    .option("--gate <file>", "judges the run by the rules of this file, which decide the exit code")
    .option(
      "--gate-json <file>",
      "writes the gate's result there; gate.json in the folder of --report by default",
    )
    .option("--environment <name>", "recorded with the run; names its settings in labwright.yaml")
    .option("--allow-production", "lets requests change data where an environment is marked production")
    .option("--release <name>", "recorded with the run")
    .option("--build <name>", "recorded with the run");

function addApiTest(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  withDaemonOptions(program.command("api-test"))
    .description("tests an API by its OpenAPI or Swagger document, without a device or a model; for CI")
    .argument("<document>", "an address, or a JSON or YAML file of the project")
    .option("--url <url>", "the server to test, in place of the document's own")
    .option("--tests <file>", "YAML of your own credentials, values and rules")
    .option("--operation <id>", "only this operation; may be given again", append)
    .option("--tag <tag>", "only operations with this tag; may be given again", append)
    .option("--seed <number>", "makes the same values again", readCount)
    .option("--environment <name>", "recorded with the run; names its settings in labwright.yaml")
    .option("--allow-production", "lets requests change data where an environment is marked production")
    .option("--report <dir>", "writes report.html, junit.xml and ctrf.json there")
    .addHelpText(
      "after",
      examples(
        "labwright api-test openapi.yaml --url http://localhost:3000 --report reports",
        "labwright api-test http://localhost:3000/openapi.json --tests api-tests.yaml",
      ),
    )
    .addHelpText("after", "\nExit codes: 0 no finding, 1 a finding, 2 not judged, 130 interrupted.\n")
    .action(async (document: string, given: DaemonOptions & Omit<ApiTestOptions, "document">) => {
      const { runApiTests } = await import("./run/apiTest.ts");
      exit(await runApiTests({ ...given, document }, terminal));
    });
}

function addDemo(program: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  program
    .command("demo")
    .description(
      "runs tests on a real web app, a simulated phone or a set-top box, with a daemon and data of its own",
    )
    .argument("[implementations...]", "of TodoMVC; vanillajs when none is named")
    .addOption(
      new Option(
        "--device <kind>",
        "web: a browser; android: a simulated phone behind the real adb; tv: Kodi, seen by its picture and driven by keys",
      )
        .choices(["web", "android", "tv"])
        .default("web"),
    )
    .option("--all", "all of them")
    .option("--report <dir>", "where the reports go")
    .option("--keep", "keeps the phone or box and its server until Ctrl-C, to be driven by hand")
    .addHelpText(
      "after",
      examples(
        "labwright demo",
        "labwright demo react --report reports",
        "labwright demo --device android --keep",
        "labwright demo --device tv",
      ),
    )
    .action(async (only: string[], given: Omit<DemoOptions, "only">) => {
      const { runDemo } = await import("./demo/demo.ts");
      exit(await runDemo({ only, ...given }, terminal));
    });
}

const append = (value: string, before: string[] = []) => [...before, value];

function readMatrix(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("It is a list such as chrome,firefox.");
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new InvalidArgumentError(`It has ${twice} twice.`);
  return names;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError("It is a number of seconds, 0 to 86400.");
}

function readShard(text: string): { index: number; total: number } {
  const [, index, total] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (index !== undefined && total !== undefined && index >= 1 && index <= total) return { index, total };
  throw new InvalidArgumentError("It is a part and how many parts there are, such as 1/3.");
}
