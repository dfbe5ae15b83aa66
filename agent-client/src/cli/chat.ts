import type { OpenAgent, OpenAgentClient } from "./agentClient.ts";
import { type ClientOptions, withClient } from "./client.ts";
import { type ApprovalRequired, exchange, owner } from "./exchange.ts";
import type { Input } from "./input.ts";
import { plainLine } from "./plain.ts";
import { numbered } from "./render.ts";
import { type Chat, resumeConversation, runSlash } from "./slash.ts";
import { answerTeller, liveTeller } from "./tell.ts";
import { type ExitCode, exitCodeOf, exitCodes, failureText, type Terminal } from "./terminal.ts";

export type ChatOptions = ClientOptions & {
  agent?: string | undefined;
  /** An id; true is the newest conversation. */
  resume?: string | true | undefined;
  /** Serves every message, in place of one that is chosen for each. */
  skill?: string | undefined;
};

/** `labwright chat`. 130 when it was left by Ctrl-C; over a pipe the worst of its runs; otherwise 0. */
export const runChat = (options: ChatOptions, terminal: Terminal, open: OpenAgentClient): Promise<ExitCode> =>
  withClient(options, terminal, open, async (client) => {
    const input = terminal.input();
    try {
      return await talk(await openChat(client, terminal, options), input, options.skill);
    } finally {
      input.close();
    }
  });

async function openChat(client: OpenAgent, terminal: Terminal, options: ChatOptions): Promise<Chat> {
  const { isInteractive, out, err, style } = terminal;
  const { resume, agent } = options;
  const chat: Chat = {
    ...{ client, terminal, agent, sessionId: undefined, suggestions: [] },
    ...(isInteractive ? { say: out, style: style.out } : { say: err, style: style.err }),
  };
  if (resume !== undefined) await resumeConversation(chat, resume === true ? undefined : resume);
  // Created now for its error: an agent that does not exist, or that takes no messages.
  else if (agent !== undefined) chat.sessionId = (await client.conversations.create({ owner, agent })).id;
  if (isInteractive) await greet(chat);
  for (const { file, line, message } of client.problems) err(`${file}:${line}: ${message}\n`);
  if (client.models.length === 0) err(noModel);
  return chat;
}

const noModel = `No model is set. Without one, Labwright runs the scripts and test cases that you name, shows what there is and
tells what ran. For anything else set ANTHROPIC_API_KEY, or name a model under agents.models in labwright.yaml.
`;

/** Says who is there, and offers prompts to start with. */
async function greet(chat: Chat): Promise<void> {
  const { say, style, client, agent: name } = chat;
  const { agents, server, models, conversations } = client;
  const agent = agents.find((one) => (name === undefined ? one.default : one.name === name));
  const parts = [server, models[0]?.model ?? "no model"].map((part) => plainLine(part, 80));
  say(`${[style("bold", plainLine(agent?.nickname ?? "Labwright", 40)), ...parts].join(" · ")}\n`);
  // Without them, as when the devices do not answer, the chat is the same.
  const suggestions = await conversations.suggestions(agent?.name).catch(() => []);
  chat.suggestions = suggestions.slice(0, 3).map(({ text }) => text);
  const hint = suggestions.length > 0 ? "A number sends one of these. " : "";
  say([...numbered(chat.suggestions), style("dim", `${hint}/help lists the commands.`), ""].join("\n"));
}

async function talk(chat: Chat, input: Input, skill: string | undefined): Promise<ExitCode> {
  const { terminal } = chat;
  let worst: ExitCode = exitCodes.done;
  for (;;) {
    const answer = await input.ask({ prompt: "> " });
    if (answer === "end") return worst;
    if (answer === "interrupted") return exitCodes.interrupted;
    const code = await takeLine(chat, input, answer.line.trim(), skill);
    if (code === "leave") return worst;
    if (code === exitCodes.interrupted) return code;
    if (!terminal.isInteractive && code > worst) worst = code;
  }
}

/** A failure is told, and the conversation goes on. */
async function takeLine(
  chat: Chat,
  input: Input,
  text: string,
  skill: string | undefined,
): Promise<ExitCode | "leave"> {
  if (text === "") return exitCodes.done;
  try {
    const next = await runSlash(chat, text);
    return next === "message" ? await runMessage(chat, input, { text, skill }) : (next ?? exitCodes.done);
  } catch (error) {
    chat.terminal.err(failureText(error));
    return exitCodes.error;
  }
}

async function runMessage(
  chat: Chat,
  input: Input,
  { text, skill }: { text: string; skill: string | undefined },
): Promise<ExitCode> {
  const { client, terminal, suggestions } = chat;
  const { conversations } = client;
  const suggested = /^\d$/.test(text) ? suggestions[Number(text) - 1] : undefined;
  chat.suggestions = [];
  chat.sessionId ??= (await conversations.create({ owner })).id;
  const end = await exchange({
    conversations,
    terminal,
    sessionId: chat.sessionId,
    message: { text: suggested ?? text, skill },
    onEvent: terminal.isInteractive ? liveTeller(terminal) : answerTeller(terminal),
    approve: (required, signal) => askApproval(terminal, input, required, signal),
    stop: new AbortController(),
  });
  if (end === undefined) return exitCodes.interrupted;
  // Ctrl-C ended the run, not the chat.
  return end.outcome === "cancelled" ? exitCodes.notDone : exitCodeOf[end.outcome];
}

async function askApproval(
  { isInteractive, err }: Terminal,
  input: Input,
  { tool }: ApprovalRequired,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!isInteractive) {
    err(`Refused: ${plainLine(tool, 80)} needs an approval, and a pipe cannot give one.\n`);
    return false;
  }
  const answer = await input.ask({ prompt: "Do it? y/N ", isDecision: true, signal });
  if (answer === "interrupted") return undefined;
  return answer !== "end" && /^y(es)?$/i.test(answer.line.trim());
}
