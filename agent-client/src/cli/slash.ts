import { nearest } from "@labwright/skills";
import { AgentError } from "../errors.ts";
import type { IdleDevices } from "../mcp/sharedDevices.ts";
import type { OpenAgent } from "../openAgent.ts";
import type { StoredSession } from "../ports.ts";
import type { Conversation, Conversations } from "../sessions/engine.ts";
import { owner } from "./exchange.ts";
import type { Input } from "./input.ts";
import { plain, plainLine } from "./plain.ts";
import { costLine, counted } from "./render.ts";
import type { Screen, Terminal } from "./terminal.ts";

export type Chat = {
  client: OpenAgent;
  terminal: Terminal;
  input: Input;
  /** What the chat itself says. On a pipe it goes to stderr, so that stdout has only answers. */
  screen: Screen;
  /** Serves every message, in place of one that is chosen for each. */
  skill?: string | undefined;
  session?: StoredSession;
  /** Prompts that a number sends; they are offered until something else is sent. */
  suggestions: readonly string[];
  idle: IdleDevices;
};

type Command = { help: string; run(chat: Chat, argument: string): Promise<void> | void };
const commands: Readonly<Record<string, Command>> = {
  skills: { help: "the skills, and which one is loaded", run: showSkills },
  agents: { help: "the agents, and what starts them", run: showAgents },
  cost: { help: "what this conversation has cost so far", run: showCost },
  resume: { help: "lists the conversations; with the start of an id, resumes that one", run: resume },
  help: { help: "this list", run: showHelp },
  exit: { help: "leaves; so does Ctrl-C or Ctrl-D at an empty prompt", run: ({ input }) => input.close() },
};

/** Runs `/word rest`; of an unknown word it names the nearest. False: it is a message, as `/tmp/log` is. */
export async function runSlash(chat: Chat, text: string): Promise<boolean> {
  const [, word, argument = ""] = /^\/([a-z]+)(?:\s+(.*))?$/i.exec(text) ?? [];
  if (word === undefined) return false;
  const name = word.toLowerCase();
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) await command.run(chat, argument.trim());
  else {
    const [best] = nearest(name, Object.keys(commands), 1);
    const hint = best === undefined ? "" : ` Did you mean /${best}?`;
    chat.screen.write(`There is no /${plainLine(name, 40)}.${hint} /help lists the commands.\n`);
  }
  return true;
}

/** A conversation by its id or the start of its id; by default the newest. Throws SESSION_NOT_FOUND, INVALID_INPUT. */
export async function findConversation(conversations: Conversations, wanted = ""): Promise<Conversation> {
  const newest = await conversations.list({ owner, limit: 50 });
  const [found, another] = newest.filter(({ id }) => id.startsWith(wanted));
  if (wanted === "" && !found)
    throw new AgentError("SESSION_NOT_FOUND", "There is no conversation yet.", "Start one by writing.");
  const several = `Several conversations start with ${wanted}.`;
  if (wanted !== "" && another) throw new AgentError("INVALID_INPUT", several, "Give more of the id.");
  return conversations.get(found?.id ?? wanted, owner);
}

export async function resumeConversation(chat: Chat, wanted?: string): Promise<void> {
  const { client, screen } = chat;
  const session = await findConversation(client.conversations, wanted);
  chat.session = session;
  chat.suggestions = [];
  screen.write(`Resumed ${session.id}: ${titleOf(session)} (${counted(session.turns, "turn")}).\n`);
  // A conversation in which nothing ran has no end.
  const end = await client.conversations.ended(session.id, owner).catch(() => undefined);
  if (end?.text) screen.write(`${screen.style("dim", plain(end.text).trimEnd())}\n`);
}

const titleOf = ({ title }: StoredSession): string => plainLine(title, 70) || "(no title)";

async function showSkills({ client, session, screen }: Chat): Promise<void> {
  const loaded = session && (await client.conversations.get(session.id, owner)).skill;
  for (const { name, description, own } of await client.skills()) {
    const marks = `${own ? " (yours)" : ""}${name === loaded ? " (loaded)" : ""}`;
    screen.write(`${name}${marks}: ${plainLine(description.split(/(?<=\.)\s/)[0] ?? "", 160)}\n`);
  }
}

function showAgents({ client, screen }: Chat): void {
  for (const { name, nickname, description, config, triggers } of client.agents) {
    const who = `${plainLine(nickname, 40)} (${name}${config.enabled ? "" : ", off"})`;
    const starts = triggers.map(({ event }) => event).join(", ") || "your messages";
    screen.write(`${who}: ${plainLine(description, 160)} Started by ${starts}.\n`);
  }
}

async function showCost({ client, session, screen }: Chat): Promise<void> {
  const cost = session && costLine(await client.conversations.get(session.id, owner));
  screen.write(`${cost ?? "Nothing was asked yet."}\n`);
}

/** Without an argument, the newest conversations, a line each. */
async function resume(chat: Chat, argument: string): Promise<void> {
  if (argument !== "") return resumeConversation(chat, argument);
  const sessions = await chat.client.conversations.list({ owner, limit: 10 });
  for (const session of sessions) {
    const at = new Date(session.updated_at).toLocaleString("sv-SE");
    const parts = [session.id.slice(0, 8), at, counted(session.turns, "turn"), titleOf(session)];
    chat.screen.write(`${parts.join("  ")}\n`);
  }
  if (sessions.length === 0) chat.screen.write("There is no conversation yet.\n");
}

function showHelp({ screen }: Chat): void {
  for (const [name, { help }] of Object.entries(commands)) screen.write(`/${name.padEnd(8)}${help}\n`);
  screen.write("While something runs, Ctrl-C interrupts it, and once more leaves.\n");
}
