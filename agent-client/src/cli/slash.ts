import { nearest } from "@labwright/skills";
import type { OpenAgent } from "./agentClient.ts";
import { listConversations } from "./conversation.ts";
import { owner } from "./exchange.ts";
import type { Input } from "./input.ts";
import type { Paint } from "./paint.ts";
import { plainLine } from "./plain.ts";
import type { Terminal } from "./terminal.ts";
import { costLine } from "./words.ts";

/** A conversation at a terminal or over a pipe. */
export type Chat = {
  client: OpenAgent;
  terminal: Terminal;
  input: Input;
  paint: Paint;
  /** What a slash command and the chat itself say: on a pipe, stdout has only answers. */
  say(text: string): void;
  /** Undefined until the first message. */
  sessionId(): string | undefined;
  /** Goes on with another conversation. */
  resume(wanted: string | undefined): Promise<void>;
};

export type Slash = { name: string; argument: string };

/** `/word rest`, if that is what it is: a path such as `/tmp/log` is not. */
export function readSlash(text: string): Slash | undefined {
  const match = /^\/([a-z]+)(?:\s+(.*))?$/i.exec(text);
  return match?.[1] === undefined
    ? undefined
    : { name: match[1].toLowerCase(), argument: match[2]?.trim() ?? "" };
}

type Command = {
  help: string;
  /** `leave` ends the chat. */
  run(chat: Chat, argument: string): Promise<"leave" | undefined>;
};

const commands: Readonly<Record<string, Command>> = {
  skills: { help: "the skills, and which one is loaded", run: showSkills },
  agents: { help: "the agents, and what starts them", run: showAgents },
  cost: { help: "what this conversation took so far", run: showCost },
  resume: { help: "lists the conversations; with the begin of an id, goes on with that one", run: resume },
  help: { help: "this list", run: showHelp },
  exit: { help: "leaves; so does Ctrl-C or Ctrl-D at an empty prompt", run: async () => "leave" },
};

/** Runs one; an unknown one says which is nearest. */
export async function runSlash({ name, argument }: Slash, chat: Chat): Promise<"leave" | undefined> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command.run(chat, argument);
  const [best] = nearest(name, Object.keys(commands), 1);
  chat.say(
    `There is no /${plainLine(name, 40)}.${best === undefined ? "" : ` Did you mean /${best}?`} /help lists them.\n`,
  );
  return undefined;
}

async function showSkills({ client, sessionId, say }: Chat): Promise<undefined> {
  const id = sessionId();
  const loaded = id === undefined ? null : (await client.conversations.get(id, owner)).skill;
  for (const { name, description, own } of await client.skills()) {
    const marks = `${own ? " (yours)" : ""}${name === loaded ? " (loaded)" : ""}`;
    say(`${name}${marks}: ${plainLine(description.split(/(?<=\.)\s/)[0] ?? "", 160)}\n`);
  }
}

async function showAgents({ client, say }: Chat): Promise<undefined> {
  for (const { name, nickname, description, config, triggers } of client.agents) {
    const starts = triggers.map(({ event }) => event).join(", ") || "a message of yours";
    say(
      `${plainLine(nickname, 40)} (${name}${config.enabled ? "" : ", off"}): ${plainLine(description, 160)} Started by ${starts}.\n`,
    );
  }
}

async function showCost({ client, sessionId, say }: Chat): Promise<undefined> {
  const id = sessionId();
  if (id === undefined) say("Nothing was asked yet.\n");
  else say(`${costLine(await client.conversations.get(id, owner))}\n`);
}

const maxListed = 10;

async function resume(chat: Chat, argument: string): Promise<undefined> {
  if (argument !== "") return void (await chat.resume(argument));
  const lines = await listConversations(chat.client.conversations, maxListed);
  chat.say(lines.length === 0 ? "There is no conversation yet.\n" : `${lines.join("\n")}\n`);
}

async function showHelp({ say }: Chat): Promise<undefined> {
  for (const [name, { help }] of Object.entries(commands)) say(`/${name.padEnd(8)}${help}\n`);
  say("While something runs, Ctrl-C interrupts it, and once more leaves.\n");
}
