import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../services/index.ts";

/** How long a ticket is good, in ms. */
export const ticketMs = 60_000;
/** How long a page may rest before its token ends, in ms. */
const tokenIdleMs = 12 * 3_600_000;
/** Of each kind; the oldest goes first. */
const most = 100;

export type Tickets = {
  /** A ticket that buys one token within {@link ticketMs}. */
  issue(): string;
  /** A token of the page's own, and the client that its calls are of. Undefined for a ticket that was used, is late, or was never issued. */
  redeem(ticket: string): { token: string; client: string } | undefined;
  /** The client of a page's token; undefined for any other. */
  clientOf(token: string): string | undefined;
};

/** Tickets and tokens of this process. Only their hashes are kept. */
export function createTickets(clock: Pick<Clock, "monotonic">): Tickets {
  const tickets = new Map<string, { ends: number }>();
  const tokens = new Map<string, { ends: number; client: string }>();

  /** Makes room, and keeps the newest last. */
  function keep<Entry extends { ends: number }>(entries: Map<string, Entry>, secret: string, entry: Entry) {
    for (const [key, { ends }] of entries) if (ends <= clock.monotonic()) entries.delete(key);
    for (const key of entries.keys()) {
      if (entries.size < most) break;
      entries.delete(key);
    }
    entries.set(hashOf(secret), entry);
  }

  return {
    issue() {
      const ticket = newSecret();
      keep(tickets, ticket, { ends: clock.monotonic() + ticketMs });
      return ticket;
    },
    redeem(ticket) {
      const key = hashOf(ticket);
      const found = tickets.get(key);
      tickets.delete(key);
      if (found === undefined || found.ends <= clock.monotonic()) return undefined;
      const token = newSecret();
      const client = `page/${randomBytes(6).toString("hex")}`;
      keep(tokens, token, { ends: clock.monotonic() + tokenIdleMs, client });
      return { token, client };
    },
    clientOf(token) {
      const found = tokens.get(hashOf(token));
      if (found === undefined || found.ends <= clock.monotonic()) return undefined;
      found.ends = clock.monotonic() + tokenIdleMs;
      return found.client;
    },
  };
}

const newSecret = () => randomBytes(24).toString("base64url");

const hashOf = (secret: string) => createHash("sha256").update(secret).digest("hex");
