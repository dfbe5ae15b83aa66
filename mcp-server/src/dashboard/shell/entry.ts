import { asFailure, type Failure } from "../../views/states.tsx";
import { answerOf, keepSession, type Session } from "./api.ts";

/**
 * Buys a token with the ticket of the address (`#ticket=...&to=/runs/...`), and takes the ticket out of the address first.
 * Without a ticket it does nothing: an earlier token may be good. Returns why a ticket bought nothing.
 */
export async function enter(): Promise<Failure | undefined> {
  const given = new URLSearchParams(location.hash.slice(1));
  const ticket = given.get("ticket");
  if (ticket === null) return undefined;
  history.replaceState(null, "", `#${given.get("to") ?? "/devices"}`);
  const bought = answerOf<Session>("/page/tokens", { method: "POST", body: ticket });
  return (await bought.then(keepSession, asFailure)) ?? undefined;
}
