import { AgentError } from "../errors.ts";
import type { StoredSession } from "../ports.ts";
import type { Conversation, Conversations } from "../sessions/engine.ts";
import { owner } from "./exchange.ts";
import { plainLine } from "./plain.ts";
import { counted } from "./words.ts";

const maxSearched = 50;
const shortId = 8;

/** A conversation by its id or the start of its id; by default the newest. Throws SESSION_NOT_FOUND, INVALID_INPUT. */
export async function findConversation(conversations: Conversations, wanted = ""): Promise<Conversation> {
  const newest = await conversations.list({ owner, limit: maxSearched });
  const ids = newest.map(({ id }) => id).filter((id) => id.startsWith(wanted));
  const [found, another] = ids;
  if (wanted === "" && found === undefined)
    throw new AgentError("SESSION_NOT_FOUND", "There is no conversation yet.", "Start one by writing.");
  if (wanted !== "" && another !== undefined && !ids.includes(wanted))
    throw new AgentError(
      "INVALID_INPUT",
      `Several conversations start with ${wanted}: ${ids.join(", ")}.`,
      "Give more of the id.",
    );
  return conversations.get(found === undefined || ids.includes(wanted) ? wanted : found, owner);
}

/** Newest first, a line each. */
export async function listConversations(conversations: Conversations, limit: number): Promise<string[]> {
  const sessions = await conversations.list({ owner, limit });
  return sessions.map((session) => {
    const { id, turns, updated_at } = session;
    const at = new Date(updated_at).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
    return `${id.slice(0, shortId)}  ${at}  ${counted(turns, "turn")}  ${titleOf(session)}`;
  });
}

export const titleOf = ({ title }: Pick<StoredSession, "title">): string =>
  plainLine(title, 70) || "(no title)";
