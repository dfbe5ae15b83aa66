import { answerOf, asFailure, type Failure, keepSession, type Session } from "./api.ts";

/**
 * Buys a token with the ticket of the address (`#ticket=...&to=/runs/...`), and takes the ticket out of the address first.
 * Without a ticket it does nothing: an earlier token may be good. Returns why a ticket bought nothing.
 */
export async function enter(): Promise<Failure | undefined> {
  const given = new URLSearchParams(location.hash.slice(1));
  const ticket = given.get("ticket");
  if (ticket === null) return undefined;
  history.replaceState(null, "", `#${given.get("to") ?? "/devices"}`);
  try {
    keepSession(await answerOf<Session>("/page/tokens", { method: "POST", body: ticket }));
    return undefined;
  } catch (error) {
    return asFailure(error);
  }
}
