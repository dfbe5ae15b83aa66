import type { Agent } from "../agents/agent.ts";
import type { AgentEvent, SessionEnded } from "../events.ts";
import type { OpenAgent, OpenAgentClient } from "./agentClient.ts";
import { exitCodeOf } from "./ask.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { findConversation, lastAnswer, titleOf } from "./conversation.ts";
import { type ApprovalRequired, exchange, owner } from "./exchange.ts";
import type { Answer, Input } from "./input.ts";
import { paintOf } from "./paint.ts";
import { plain, plainLine } from "./plain.ts";
import { numbered } from "./render.ts";
import { type Chat, readSlash, runSlash } from "./slash.ts";
import { answerTeller, liveTeller, type Teller } from "./tell.ts";
import { type ExitCode, exitCodes, failureText, type Terminal } from "./terminal.ts";
import { counted } from "./words.ts";

export type ChatOptions = ClientOptions & {
  agent?: string | undefined;
  /** An id; true is the newest conversation. */
  resume?: string | true | undefined;
  /** Serves every message, in place of one that is chosen for each. */
  skill?: string | undefined;
};

const prompt = "> ";

/**
 * `labwright chat`. 130 when it was left by Ctrl-C; over a pipe, which gives a message a line, the worst of its runs, and
 * otherwise 0.
 */
export async function runChat(
  options: ChatOptions,
  terminal: Terminal,
  open: OpenAgentClient,
): Promise<ExitCode> {
  return withClient(options, terminal, open, async (client) => {
    const input = terminal.input();
    try {
      return await talk(client, input, options, terminal);
    } finally {
      input.close();
    }
  });
}

async function talk(
  client: OpenAgent,
  input: Input,
  options: ChatOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const take = await openChat(client, input, options, terminal);
  let worst: ExitCode = exitCodes.done;
  for (;;) {
    const code = await takeAnswer(await input.ask({ prompt }), take, terminal);
    if (code === "leave") return worst;
    if (code === exitCodes.interrupted) return code;
    if (!terminal.isInteractive) worst = worse(worst, code);
  }
}

const worse = (a: ExitCode, b: ExitCode | undefined): ExitCode => (b !== undefined && b > a ? b : a);

/** What failed is told, and the conversation goes on. */
async function takeAnswer(
  answer: Answer,
  take: (text: string) => Promise<Taken>,
  terminal: Terminal,
): Promise<Taken> {
  if (answer.type === "end") return "leave";
  if (answer.type === "interrupt") return exitCodes.interrupted;
  const text = answer.type === "line" ? answer.text.trim() : "";
  if (text === "") return undefined;
  try {
    return await take(text);
  } catch (error) {
    terminal.err(failureText(error));
    return exitCodes.error;
  }
}

/** How a run ended, or that the chat is to be left; nothing for what ran nothing. */
type Taken = ExitCode | "leave" | undefined;

/** Gives what takes each line. */
async function openChat(
  client: OpenAgent,
  input: Input,
  options: ChatOptions,
  terminal: Terminal,
): Promise<(text: string) => Promise<Taken>> {
  const { conversations } = client;
  const paint = paintOf(terminal.isInteractive && terminal.hasColours.out);
  const say = (text: string) => (terminal.isInteractive ? terminal.out : terminal.err)(text);
  let sessionId: string | undefined;
  let { agent } = options;
  let choices: readonly string[] = [];

  const chat: Chat = {
    ...{ client, terminal, input, paint, say },
    sessionId: () => sessionId,
    async resume(wanted) {
      const conversation = await findConversation(conversations, wanted);
      sessionId = conversation.id;
      agent = conversation.agent;
      choices = [];
      const { id, turns } = conversation;
      say(`Going on with ${id}: ${titleOf(conversation)} (${counted(turns, "turn")}).\n`);
      const last = await lastAnswer(conversations, id);
      if (last !== undefined) say(`${paint.dim(plain(last).trimEnd())}\n`);
    },
  };

  if (options.resume !== undefined) await chat.resume(options.resume === true ? undefined : options.resume);
  // Created now for its error: an agent that is not there, or that nobody may talk to.
  else if (options.agent !== undefined)
    sessionId = (await conversations.create({ owner, agent: options.agent })).id;
  if (terminal.isInteractive) choices = await greet(chat, agent);
  for (const { file, line, message } of client.problems) terminal.err(`${file}:${line}: ${message}\n`);
  if (client.models.length === 0) terminal.err(`${noModel}\n`);

  const speak = async (text: string): Promise<ExitCode> => {
    sessionId ??= (await conversations.create({ owner })).id;
    choices = [];
    const { skill } = options;
    return runMessage(chat, { sessionId, text, ...(skill !== undefined && { skill }) }, (offered) => {
      choices = offered;
    });
  };
  return async (text) => {
    const slash = readSlash(text);
    if (slash) return runSlash(slash, chat);
    // A number is what stood behind it.
    return speak(/^\d{1,2}$/.test(text) ? (choices[Number(text) - 1] ?? text) : text);
  };
}

const noModel = [
  "No model is set. Without one, what a request names is done as far as it needs no judgement: scripts and test cases are",
  "run, things are listed and their state is told. For the rest, set ANTHROPIC_API_KEY, or name a model and its address",
  "under agents.models in labwright.yaml.",
].join("\n");

/** What is there, and three things to begin with. Gives these. */
async function greet({ client, say, paint }: Chat, named: string | undefined): Promise<string[]> {
  const { agents, server, models, conversations } = client;
  const agent = chosenAgent(agents, named);
  const model = models[0]?.model ?? "no model";
  say(
    `${paint.strong(plainLine(agent?.nickname ?? "Labwright", 40))} · ${plainLine(server, 80)} · ${plainLine(model, 80)}\n`,
  );
  // They are an offer: without them, as when the devices do not answer, the chat is the same.
  const suggestions = await conversations.suggestions(agent?.name).catch(() => []);
  const texts = suggestions.slice(0, 3).map(({ text }) => text);
  say([...numbered(texts), ""].join("\n"));
  say(
    `${paint.dim(`${texts.length > 0 ? "A number sends one of these. " : ""}/help says what else there is.`)}\n`,
  );
  return texts;
}

const chosenAgent = (agents: readonly Agent[], named: string | undefined): Agent | undefined =>
  named === undefined
    ? (agents.find((agent) => agent.default) ?? agents.find(({ selectable }) => selectable))
    : agents.find(({ name }) => name === named);

/** Sends a message and shows its run, in which Ctrl-C interrupts, and once more leaves. */
async function runMessage(
  { client, terminal, input, say }: Chat,
  { sessionId, ...message }: { sessionId: string; text: string; skill?: string },
  offer: (options: readonly string[]) => void,
): Promise<ExitCode> {
  const controller = new AbortController();
  let leave: (left: "left") => void = () => {};
  const left = new Promise<"left">((resolve) => {
    leave = resolve;
  });
  const interrupt = () => {
    if (controller.signal.aborted) return leave("left");
    say("\nInterrupting; Ctrl-C again leaves at once.\n");
    controller.abort();
  };
  const stop = input.onInterrupt(interrupt);
  const tell: Teller = terminal.isInteractive ? liveTeller(terminal) : answerTeller(terminal);
  const running = exchange({
    conversations: client.conversations,
    sessionId,
    message,
    onEvent(event: AgentEvent) {
      tell(event);
      if (event.type === "handoff") offer(event.options);
    },
    approve: (required, signal) => askApproval({ terminal, input, required, signal, interrupt }),
    signal: controller.signal,
  });
  // Nobody waits for it any more once it was left.
  running.catch(() => {});
  try {
    const end: SessionEnded | "left" = await Promise.race([running, left]);
    if (end === "left") return exitCodes.interrupted;
    // An interrupted run has done what it was told; the conversation goes on.
    return end.outcome === "cancelled" ? exitCodes.notDone : exitCodeOf(end, undefined);
  } finally {
    stop();
  }
}

async function askApproval(given: {
  terminal: Terminal;
  input: Input;
  required: ApprovalRequired;
  signal: AbortSignal;
  interrupt(): void;
}): Promise<boolean | undefined> {
  const { terminal, input, required, signal, interrupt } = given;
  if (!terminal.isInteractive) {
    terminal.err(`Refused: ${plainLine(required.tool, 80)} needs an approval, and a pipe cannot give one.\n`);
    return false;
  }
  const answer = await input.ask({ prompt: "Do it? y/N ", isDecision: true, signal });
  switch (answer.type) {
    case "line":
      return /^y(es)?$/i.test(answer.text.trim());
    case "end":
      return false;
    case "interrupt":
      interrupt();
      return undefined;
    case "withdrawn":
      return undefined;
  }
}
