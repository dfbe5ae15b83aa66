import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { OpenAgentClient } from "./agentClient.ts";
import { type AskOptions, runAsk } from "./ask.ts";
import { type ChatOptions, runChat } from "./chat.ts";
import { type ExitCode, exitCodes, failureText, type Terminal } from "./terminal.ts";

/**
 * `labwright chat` and `ask`. Gives back the exit code: 0 done, 1 ended otherwise, 2 error (wrong use included), 130
 * interrupted.
 */
export async function runAgentCommand(
  args: readonly string[],
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram(terminal, open, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.error;
    terminal.err(failureText(error));
    return exitCodes.error;
  }
}

type Exit = (code: ExitCode) => void;

function createProgram(terminal: Terminal, open: OpenAgentClient, exit: Exit): Command {
  const program = new Command("labwright")
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError("(labwright --help lists what there is)");
  addTalk(program, terminal, open, exit);
  return program;
}

const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`;

const withDaemonOptions = (command: Command): Command =>
  command
    .option("--data-dir <dir>", "what is kept between runs (LABWRIGHT_DATA_DIR)")
    .option("--config <file>", "labwright.yaml (LABWRIGHT_CONFIG)");

const withTalkOptions = (command: Command): Command =>
  withDaemonOptions(command)
    .option("--agent <name>", "whom to talk to; `labwright agents` lists them")
    .option("--skill <name>", "the skill for what is asked, in place of one that is chosen")
    .option("--model <name>", "in place of the first of agents.models (DEFAULT_MODEL)")
    .option("--record <file>", "writes every exchange with the model there, as JSON lines");

function addTalk(program: Command, terminal: Terminal, open: OpenAgentClient, exit: Exit): void {
  withTalkOptions(program.command("chat"))
    .description("talks with Claude about the devices, tests and results of the lab")
    .option("--resume [id]", "goes on with a conversation: the newest, or the one of this id")
    .addHelpText(
      "after",
      examples("labwright chat", "labwright chat --resume", 'echo "List the devices" | labwright chat'),
    )
    .action(async (given: ChatOptions) => exit(await runChat(given, terminal, open)));
  withTalkOptions(program.command("ask"))
    .description("asks once and prints the answer; for scripts and CI")
    .argument("<request...>", "what to do; - reads it from stdin")
    .option("--json", "every event as a line of JSON, the end last")
    .option("--resume <id>", "goes on with the conversation of this id")
    .option("--timeout <seconds>", "interrupts it when it takes longer", readSeconds)
    .option("--yes", "approves all that needs it; otherwise it is refused")
    .addHelpText(
      "after",
      examples(
        'labwright ask "Run the script goto on browser"',
        'labwright ask --json --timeout 600 "Run the test case sign in" > events.jsonl',
      ),
    )
    .action(async (words: string[], given: Omit<AskOptions, "request"> & { timeout?: number }) => {
      const { timeout, ...rest } = given;
      exit(await runAsk({ ...rest, timeoutSeconds: timeout, request: words.join(" ") }, terminal, open));
    });
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError("It is a number of seconds, more than 0 and at most 86400.");
}
