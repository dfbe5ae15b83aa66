import { AgentError } from "../errors.ts";
import type { StoredSession } from "../ports.ts";
import type { Conversation, Conversations } from "../sessions/conversations.ts";
import { owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { counted } from "./words.ts";

const maxListed = 50;
const shortId = 8;

/** One of this user's: by its id or the unique begin of one, else the newest. Throws SESSION_NOT_FOUND, INVALID_INPUT. */
export async function findConversation(
  conversations: Conversations,
  wanted: string | undefined,
): Promise<Conversation> {
  const listed = await conversations.list({ owner, limit: maxListed });
  if (wanted === undefined) {
    const [newest] = listed;
    if (newest) return conversations.get(newest.id, owner);
    throw new AgentError("SESSION_NOT_FOUND", "There is no conversation yet.", "Start one by writing.");
  }
  const found = listed.filter(({ id }) => id === wanted || id.startsWith(wanted));
  if (found.length > 1 && !found.some(({ id }) => id === wanted))
    throw new AgentError(
      "INVALID_INPUT",
      `Several conversations begin with ${wanted}: ${found.map(({ id }) => id).join(", ")}.`,
      "Give more of it.",
    );
  return conversations.get(found.length === 1 && found[0] ? found[0].id : wanted, owner);
}

/** Newest first, a line each. */
export async function listConversations(conversations: Conversations, limit: number): Promise<string[]> {
  const sessions = await conversations.list({ owner, limit });
  return sessions.map(
    (session) =>
      `${session.id.slice(0, shortId)}  ${whenOf(session)}  ${counted(session.turns, "turn")}  ${titleOf(session)}`,
  );
}

export const titleOf = ({ title }: Pick<StoredSession, "title">): string =>
  plainLine(title, 70) || "(no title)";

const whenOf = ({ updated_at }: StoredSession): string => plainLine(updated_at, 16).replace("T", " ");

const pageSize = 500;
const maxPages = 100;

/** What the agent said last in it, for who comes back; undefined when it has said nothing. */
export async function lastAnswer(conversations: Conversations, id: string): Promise<string | undefined> {
  let last: string | undefined;
  let after = 0;
  for (let page = 0; page < maxPages; page++) {
    const events = await conversations.events(id, owner, { after, limit: pageSize });
    for (const event of events) if (event.type === "message" && event.text !== "") last = event.text;
    const end = events.at(-1);
    if (end === undefined) break;
    after = end.seq;
  }
  return last;
}
