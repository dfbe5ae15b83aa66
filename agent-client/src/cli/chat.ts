import { IdleDevices } from "../mcp/sharedDevices.ts";
import type { OpenAgent } from "../openAgent.ts";
import { exchange, owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { answerPrinter, failureText, livePrinter, numbered } from "./render.ts";
import { type Chat, resumeConversation, runSlash } from "./slash.ts";
import { type ExitCode, exitCodes, Interrupted, type Terminal, unlessInterrupted } from "./terminal.ts";

export type ChatOptions = {
  agent?: string;
  /** An id; true is the newest conversation. */
  resume?: string | true;
  skill?: string;
};

/** `labwright chat`. 130 when it was left by Ctrl-C; over a pipe the worst of its runs; otherwise 0. */
export function runChat(client: OpenAgent, terminal: Terminal, options: ChatOptions): Promise<ExitCode> {
  const input = terminal.input();
  const screen = terminal.isInteractive ? terminal.out : terminal.err;
  const idle = new IdleDevices(client.devices);
  const chat: Chat = { client, terminal, input, screen, skill: options.skill, suggestions: [], idle };
  return talk(chat, options).finally(() => {
    idle.stop();
    input.close();
  });
}

async function begin(chat: Chat, { resume, agent }: ChatOptions): Promise<void> {
  const { conversations, problems, models } = chat.client;
  const { isInteractive, err } = chat.terminal;
  if (resume !== undefined) await resumeConversation(chat, resume === true ? undefined : resume);
  // Created now for its error: an agent that does not exist, or that takes no messages.
  else if (agent !== undefined) chat.session = await conversations.create({ owner, agent });
  if (isInteractive) await greet(chat);
  for (const { file, line, message } of problems) err.write(`${file}:${line}: ${message}\n`);
  if (models.length === 0) err.write(noModel);
}

const noModel = `No model is set. Without one, Labwright runs the scripts and test cases that you name, shows what there is and
says what ran. For anything else set ANTHROPIC_API_KEY, or name a model under agents.models in labwright.yaml.
`;

async function greet(chat: Chat): Promise<void> {
  const { screen, session, client } = chat;
  const agent = client.agents.find((one) => (session ? one.name === session.agent : one.default));
  const nickname = screen.style("bold", plainLine(agent?.nickname ?? "Labwright", 40));
  const model = client.models[0]?.model ?? "no model";
  screen.write(`${nickname} · ${plainLine(client.server, 80)} · ${plainLine(model, 80)}`);
  // Without them, as when the devices do not answer, the chat is the same.
  const suggestions = await client.conversations.suggestions(agent?.name).catch(() => []);
  chat.suggestions = suggestions.map(({ text }) => text).slice(0, 3);
  const hint = suggestions.length > 0 ? "A number sends one of these. " : "";
  const help = screen.style("dim", `${hint}/help lists the commands.`);
  screen.write(`${numbered(chat.suggestions)}\n${help}\n`);
}

async function talk(chat: Chat, options: ChatOptions): Promise<ExitCode> {
  const { terminal, input } = chat;
  await unlessInterrupted(terminal, begin(chat, options));
  let worst: ExitCode = exitCodes.done;
  for (;;) {
    const line = await unlessInterrupted(terminal, input.ask("> "));
    if (line === undefined) return worst;
    const code = await takeLine(chat, line.trim());
    if (!terminal.isInteractive && code > worst) worst = code;
  }
}

/** A failure is shown, and the conversation goes on. */
async function takeLine(chat: Chat, text: string): Promise<ExitCode> {
  try {
    if (text === "" || (await runSlash(chat, text))) return exitCodes.done;
    return await send(chat, text);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    chat.terminal.err.write(failureText(error));
    return exitCodes.error;
  }
}

async function send(chat: Chat, text: string): Promise<ExitCode> {
  const { client, terminal, input, suggestions, skill } = chat;
  const { conversations } = client;
  const { isInteractive, err } = terminal;
  const print = isInteractive ? livePrinter(terminal) : answerPrinter(terminal);
  chat.suggestions = [];
  for (const missing of await chat.idle.use())
    err.write(`A device was given back while nothing was asked. ${plainLine(missing, 300)}\n`);
  chat.session ??= await conversations.create({ owner });
  const code = await exchange({
    ...{ conversations, terminal, sessionId: chat.session.id, skill },
    text: (/^\d$/.test(text) && suggestions[Number(text) - 1]) || text,
    onEvent(event) {
      // Several may be required at once: each is shown when it is asked.
      if (event.type !== "approval_required") print(event);
    },
    async approve(required, signal) {
      print(required);
      if (isInteractive) return /^\s*y(es)?\s*$/i.test((await input.ask("Do it? y/N ", signal)) ?? "");
      err.write(`Refused: ${plainLine(required.tool, 80)} needs an approval, and a pipe cannot give one.\n`);
      return false;
    },
  }).finally(() => chat.idle.rest());
  // Ctrl-C ended the run, not the chat.
  return code === exitCodes.interrupted ? exitCodes.notDone : code;
}
