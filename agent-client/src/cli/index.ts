import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { z } from "zod";
import { durationSchema, moneySchema } from "../messages/units.ts";
import type { AgentOptions, OpenAgent } from "../openAgent.ts";
import { type AskOptions, runAsk } from "./ask.ts";
import { type ChatOptions, runChat } from "./chat.ts";
import { type QaOptions, runQaCommand } from "./qa.ts";
import { failureText } from "./render.ts";
import {
  type ExitCode,
  exitCodes,
  Interrupted,
  processTerminal,
  type Terminal,
  unlessInterrupted,
} from "./terminal.ts";

export { jsonLine, plainLine } from "./plain.ts";

type ClientOptions = Omit<AgentOptions, "env" | "keyFile"> & { dataDir?: string; config?: string };
/** `signal` aborts when the command is to end before the client is open. */
export type OpenAgentOptions = ClientOptions & { signal: AbortSignal };

/** Opens the agent client on the daemon, found or started; throws CONFIG_INVALID, SERVER_UNREACHABLE. */
export type OpenAgentClient = (options: OpenAgentOptions) => Promise<OpenAgent>;

/** Runs the command with an agent client that is closed afterwards. */
type Run = (options: ClientOptions, command: (client: OpenAgent) => Promise<ExitCode>) => Promise<void>;

/** `labwright chat` and `ask` in this process. Sets the exit code. */
export async function runAgentCli(args: readonly string[], open: OpenAgentClient): Promise<void> {
  const terminal = processTerminal();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const interrupt = () => terminal.interrupts.emit("interrupt");
  for (const signal of signals) process.on(signal, interrupt);
  try {
    process.exitCode = await runAgentCommand(args, terminal, open);
  } finally {
    // Ctrl-C has its usual meaning again.
    for (const signal of signals) process.off(signal, interrupt);
  }
}

/** `labwright chat` and `ask`. Returns the exit code. */
export async function runAgentCommand(
  args: readonly string[],
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const run: Run = async (options, command) => {
    const starting = new AbortController();
    const opening = open({ ...options, signal: starting.signal });
    const client = await unlessInterrupted(terminal, opening).catch((error) => {
      starting.abort();
      // What opens after all is not left open.
      opening.then((late) => late.close()).catch(() => {});
      throw error;
    });
    try {
      exitCode = await command(client);
    } finally {
      await client.close();
    }
  };
  try {
    await createProgram(terminal, run).parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof Interrupted) return exitCodes.interrupted;
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.error;
    terminal.err.write(failureText(error));
    return exitCodes.error;
  }
}

function createProgram(terminal: Terminal, run: Run): Command {
  const program = new Command("labwright")
    .exitOverride()
    .configureOutput({ writeOut: terminal.out.write, writeErr: terminal.err.write })
    .showHelpAfterError("(labwright --help lists what there is)");
  withClientOptions(program.command("chat"))
    .description("talks with Claude about the devices, tests and results of the lab")
    .option("--resume [id]", "goes on with a conversation: the newest, or the one of this id")
    .addHelpText("after", examples("labwright chat --resume", 'echo "List the devices" | labwright chat'))
    .action((options: ClientOptions & ChatOptions) =>
      run(options, (client) => runChat(client, terminal, options)),
    );
  withClientOptions(program.command("ask"))
    .description("asks once and prints the answer; for scripts and CI")
    .argument("<request...>", "what to do; - reads it from stdin")
    .option("--json", "every event as a line of JSON, the end last")
    .option("--resume <id>", "goes on with the conversation of this id")
    .option("--timeout <seconds>", "interrupts it when it takes longer", readSeconds)
    .option("--yes", "approves all that needs it; otherwise it is refused")
    .addHelpText("after", examples('labwright ask --timeout 600 "Run the test case sign in on browser"'))
    .action((words: string[], options: ClientOptions & AskOptions) =>
      run(options, (client) => runAsk(client, terminal, words.join(" "), options)),
    );
  addQa(program, terminal, run);
  return program;
}

const list = (text: string) => text.split(",").map((one) => one.trim());
const collect = (text: string, before: string[] = []) => [...before, text];

function addQa(program: Command, terminal: Terminal, run: Run): void {
  withClientOptions(program.command("qa"))
    .description("plans tests for a goal, runs them in browsers and against the API, and judges the results")
    .argument("[goal...]", "what is to be proved; the plan file's goal when left out")
    .option("--url <url>", "an address of the app; may be given again", collect)
    .option("--openapi <file or url>", "the API's document")
    .option("--app <name>", "the app (userinterface) of the web tests")
    .option("--plan <file>", "a plan in YAML, in place of one that a model makes")
    .option("--policy <file>", "what results must show, in YAML")
    .option("--matrix <browsers>", "browsers with commas between, such as chrome,firefox", list)
    .option("--environment <name>", "where the tests run, such as staging")
    .option("--release <version>", "the release under test")
    .option("--build <id>", "the build under test")
    .option("--risk <text>", "a known risk for the planner; may be given again", collect)
    .option("--issue <text>", "a known issue for the planner; may be given again", collect)
    .option(
      "--service <name>",
      "a service that the app depends on, for the planner; may be given again",
      collect,
    )
    .option(
      "--compliance <text>",
      "what tests may not see or touch, for the planner; may be given again",
      collect,
    )
    .option("--max-time <time>", "such as 10m; the rest is not run", readTime)
    .option("--max-cost <amount>", "such as $0.30, by the plan's cost_per_minute", readCost)
    .option("--report <folder>", "writes report.html, junit.xml, ctrf.json and qa.json there")
    .option("--json", "the report as one line of JSON")
    .addHelpText(
      "after",
      examples(
        "labwright qa --plan qa.yaml --report out",
        'labwright qa "Is sign-in safe to release?" --url http://localhost:3000',
      ),
    )
    .addHelpText(
      "after",
      "\nExit codes: 0 passed, 1 failed or doubted by the critic, 2 not judged, 130 interrupted.\n",
    )
    .action((words: string[], options: ClientOptions & QaOptions) => {
      const goal = words.join(" ");
      if (goal === "" && options.plan === undefined)
        throw new InvalidArgumentError("Give a goal, or a plan with --plan.");
      return run(options, (client) => runQaCommand(client, terminal, goal, options));
    });
}

const readUnit =
  <T>(schema: z.ZodType<T>) =>
  (text: string): T => {
    const { data, error } = schema.safeParse(text);
    if (data !== undefined) return data;
    throw new InvalidArgumentError(error?.issues[0]?.message ?? "");
  };
const readTime = readUnit(durationSchema);
const readCost = readUnit(moneySchema);

const withClientOptions = (command: Command): Command =>
  command
    .option("--data-dir <dir>", "the folder of the server's data (LABWRIGHT_DATA_DIR)")
    .option("--config <file>", "labwright.yaml (LABWRIGHT_CONFIG)")
    .option("--agent <name>", "whom to talk to; `labwright agents` lists them")
    .option("--skill <name>", "the skill for what is asked, in place of one that is chosen")
    .option("--model <name>", "in place of the first of agents.models (DEFAULT_MODEL)")
    .option("--record <file>", "writes every exchange with the model there, as JSON lines");

const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`;

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError("It is a number of seconds, more than 0 and at most 86400.");
}
