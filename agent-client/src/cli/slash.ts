import { nearest } from "@labwright/skills";
import type { OpenAgent } from "./agentClient.ts";
import { findConversation, listConversations, titleOf } from "./conversation.ts";
import { owner } from "./exchange.ts";
import { plain, plainLine } from "./plain.ts";
import type { Style, Terminal } from "./terminal.ts";
import { costLine, counted } from "./words.ts";

/** A conversation at a terminal or over a pipe. */
export type Chat = {
  client: OpenAgent;
  terminal: Terminal;
  /** What the chat itself says. On a pipe it goes to stderr, so that stdout has only answers. */
  say(text: string): void;
  style: Style;
  /** The default agent if undefined. */
  agent: string | undefined;
  /** Undefined until the first message. */
  sessionId: string | undefined;
  /** Prompts that a number sends; they are offered until something else is sent. */
  suggestions: readonly string[];
};

/** What a command ends with: `leave` ends the chat. */
type Next = "leave" | undefined;
type Command = { help: string; run(chat: Chat, argument: string): Promise<Next> };

const commands: Readonly<Record<string, Command>> = {
  skills: { help: "the skills, and which one is loaded", run: showSkills },
  agents: { help: "the agents, and what starts them", run: showAgents },
  cost: { help: "what this conversation has cost so far", run: showCost },
  resume: { help: "lists the conversations; with the start of an id, resumes that one", run: resume },
  help: { help: "this list", run: showHelp },
  exit: { help: "leaves; so does Ctrl-C or Ctrl-D at an empty prompt", run: async () => "leave" },
};

/** Runs `/word rest`; of an unknown word it names the nearest. `/tmp/log` is no command: "message". */
export async function runSlash(chat: Chat, text: string): Promise<Next | "message"> {
  const [, word, argument = ""] = /^\/([a-z]+)(?:\s+(.*))?$/i.exec(text) ?? [];
  if (word === undefined) return "message";
  const name = word.toLowerCase();
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command.run(chat, argument.trim());
  const [best] = nearest(name, Object.keys(commands), 1);
  const hint = best === undefined ? "" : ` Did you mean /${best}?`;
  chat.say(`There is no /${plainLine(name, 40)}.${hint} /help lists the commands.\n`);
  return undefined;
}

/** Continues a conversation: by the start of its id, or the newest. */
export async function resumeConversation(chat: Chat, wanted: string | undefined): Promise<void> {
  const { conversations } = chat.client;
  const conversation = await findConversation(conversations, wanted);
  const { id, turns } = conversation;
  chat.sessionId = id;
  chat.agent = conversation.agent;
  chat.suggestions = [];
  chat.say(`Resumed ${id}: ${titleOf(conversation)} (${counted(turns, "turn")}).\n`);
  // A conversation in which nothing ran has no end.
  const end = await conversations.ended(id, owner).catch(() => undefined);
  if (end?.text) chat.say(`${chat.style("dim", plain(end.text).trimEnd())}\n`);
}

async function showSkills({ client, sessionId, say }: Chat): Promise<undefined> {
  const loaded = sessionId && (await client.conversations.get(sessionId, owner)).skill;
  for (const { name, description, own } of await client.skills()) {
    const marks = `${own ? " (yours)" : ""}${name === loaded ? " (loaded)" : ""}`;
    say(`${name}${marks}: ${plainLine(description.split(/(?<=\.)\s/)[0] ?? "", 160)}\n`);
  }
}

async function showAgents({ client, say }: Chat): Promise<undefined> {
  for (const { name, nickname, description, config, triggers } of client.agents) {
    const who = `${plainLine(nickname, 40)} (${name}${config.enabled ? "" : ", off"})`;
    const starts = triggers.map(({ event }) => event).join(", ") || "your messages";
    say(`${who}: ${plainLine(description, 160)} Started by ${starts}.\n`);
  }
}

async function showCost({ client, sessionId, say }: Chat): Promise<undefined> {
  if (sessionId === undefined) say("Nothing was asked yet.\n");
  else say(`${costLine(await client.conversations.get(sessionId, owner))}\n`);
}

const maxListed = 10;

async function resume(chat: Chat, argument: string): Promise<undefined> {
  if (argument !== "") return void (await resumeConversation(chat, argument));
  const lines = await listConversations(chat.client.conversations, maxListed);
  chat.say(lines.length === 0 ? "There is no conversation yet.\n" : `${lines.join("\n")}\n`);
}

async function showHelp({ say }: Chat): Promise<undefined> {
  for (const [name, { help }] of Object.entries(commands)) say(`/${name.padEnd(8)}${help}\n`);
  say("While something runs, Ctrl-C interrupts it, and once more leaves.\n");
}
