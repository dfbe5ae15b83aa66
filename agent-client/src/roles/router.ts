import { foldedWords } from "@labwright/skills";
import { messageTypes, type Role } from "../messages/contents.ts";
import type { Envelope } from "../messages/envelope.ts";
import type { Health } from "./executor.ts";
import words from "./intents.json" with { type: "json" };

/** Who could take a message, and what is known of it. */
export type Candidate = { name: string; role: Role; health: Health };

/** How the last messages to each executor ended, newest last, at most {@link remembered}. */
type History = ReadonlyMap<string, readonly boolean[]>;

export type Decision = {
  role: Role | undefined;
  /** How the role was found. */
  role_by: "message_type" | "recipient" | "intent" | "none";
  /** Best first; a score of 0 is one that cannot take it. */
  candidates: { name: string; score: number; reason: string }[];
  chosen: string | undefined;
  reason: string;
  hop: number;
};

/** A message that was passed on so often goes round in circles. */
export const mostHops = 4;
export const remembered = 20;
/** Words for a second role may be this share of those for the first. */
const clearShare = 0.67;

type Addressed = Pick<Envelope, "message_type" | "recipient" | "intent">;
const roleNames = Object.keys(words) as Role[];

const isType = (type: string): type is keyof typeof messageTypes => Object.hasOwn(messageTypes, type);

/** The role that a message is for: by its type, else its recipient, else the words of its intent. Undefined: not clear. */
export function roleOf({ message_type, recipient, intent }: Addressed): Pick<Decision, "role" | "role_by"> {
  if (isType(message_type)) return { role: messageTypes[message_type], role_by: "message_type" };
  const named = roleNames.find((name) => recipient.toLowerCase().startsWith(name));
  if (named) return { role: named, role_by: "recipient" };
  const role = roleInWords(intent);
  return { role, role_by: role ? "intent" : "none" };
}

function roleInWords(intent: string): Role | undefined {
  const said = ` ${phraseOf(intent)} `;
  const scored = roleNames
    .map((role) => {
      const found = words[role].filter((phrase) => said.includes(` ${phraseOf(phrase)} `));
      return { role, score: found.join(" ").split(" ").filter(Boolean).length };
    })
    .sort((a, b) => b.score - a.score);
  const [best, second] = scored;
  if (!best || best.score === 0) return undefined;
  return second && second.score > best.score * clearShare ? undefined : best.role;
}

/** One and several of a thing are one word. */
const phraseOf = (text: string): string =>
  foldedWords(text)
    .map((word) => (word.length > 3 ? word.replace(/s$/, "") : word))
    .join(" ");

/** What speaks for an executor: it is up, has little to do, and its last messages went well. 0 to 1. */
function scoreOf({ health, name }: Candidate, history: History): number {
  if (!health.isUp) return 0;
  const last = history.get(name) ?? [];
  const well = (last.filter((ok) => ok).length + 1) / (last.length + 2);
  return well / (1 + health.load);
}

type Routed = { history: History; tried: ReadonlySet<string>; hop: number; forwarded?: Role | undefined };

/**
 * Who gets a message. `tried`: who had it before and went away. Undefined where no role is clear, no one is up, or it was
 * passed on too often. Pure.
 */
export function decide(
  message: Addressed,
  candidates: readonly Candidate[],
  { history, tried, hop, forwarded }: Routed,
): Decision {
  const { role, role_by } = forwarded ? { role: forwarded, role_by: "recipient" as const } : roleOf(message);
  const noOne = (reason: string, scored: Decision["candidates"] = []): Decision => ({
    ...{ role, role_by, candidates: scored, chosen: undefined, reason, hop },
  });
  if (hop >= mostHops) return noOne(`ROUTING_LOOP: it was passed on ${hop} times`);
  if (!role) return noOne("UNCLEAR_INTENT: its words fit no role, or two alike");
  const scored = candidates
    .filter((candidate) => candidate.role === role)
    .map((candidate) => {
      const { name, health } = candidate;
      if (tried.has(name)) return { name, score: 0, reason: "it went away with this message" };
      return { name, score: Math.round(scoreOf(candidate, history) * 1_000) / 1_000, reason: health.reason };
    })
    .sort((a, b) => b.score - a.score || a.name.localeCompare(b.name));
  const [best] = scored;
  if (!best || best.score === 0) return noOne(`NO_EXECUTOR: no ${role} executor is up`, scored);
  const reason = `${best.name} has the highest score of ${scored.length} for ${role}`;
  return { role, role_by, candidates: scored, chosen: best.name, reason, hop };
}
