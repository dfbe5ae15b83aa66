import type { Page } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import { withDeadline } from "../../waiting/deadlines.ts";
import type { DrivenSession } from "../browser/session.ts";
import type { HeldField } from "../page/agent/fields.ts";
import { askAgent } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";

/** An input that its field has taken. `began`: when the command did; `done`: what it did, in a few words. */
type Kept = { page: Page; began: number; done: string; token: number; isLost(held: HeldField): boolean };

export type KeptInputs = readonly Kept[];

/** The page keeps as many, in `agent/fields.ts`. */
const MOST_KEPT = 30;
/** A page that is busy for longer is asked when it is used next. */
const ANSWER_MS = 500;

const keptBy = new WeakMap<DrivenSession, KeptInputs>();

/** The field is read again before the next action and when the page rests: a script that starts late may put back what it held. */
export function keepInput(
  session: DrivenSession,
  { page, began, done }: Pick<Kept, "page" | "began" | "done">,
  token: number,
  isLost: Kept["isLost"],
): void {
  const kept = keptBy.get(session) ?? [];
  keptBy.set(session, [...kept, { page, began, done, token, isLost }].slice(-MOST_KEPT));
}

/** For an action that leaves the page: what it held no longer counts. */
export function forgetInputs(session: DrivenSession): KeptInputs {
  keptBy.delete(session);
  return [];
}

/** Takes the inputs that are kept, for the time of an action. Throws INPUT_NOT_TAKEN where the page has put one back by itself. */
export async function takeInputs(session: DrivenSession, signal: AbortSignal): Promise<KeptInputs> {
  const kept = keptBy.get(session) ?? [];
  keptBy.delete(session);
  const fields = await readFields(session, kept, signal);
  const lost = kept.find((input, at) => {
    const held = fields[at];
    return held && input.isLost(held) && !isExplained(session, input, held);
  });
  if (!lost) return kept;
  throw new DeviceError(
    "INPUT_NOT_TAKEN",
    `An input is lost: after "${lost.done}" the field held it, and then the page put back what was there before, as pages do whose script starts late. Wait for what shows that the page is ready, then repeat it.`,
  );
}

/** After another input. What that one itself took away, as a choice does that empties the fields that depend on it, is not lost. */
export async function keepOn(
  session: DrivenSession,
  earlier: KeptInputs,
  signal: AbortSignal,
): Promise<void> {
  const latest = keptBy.get(session);
  if (!latest) return;
  const fields = await readFields(session, earlier, signal);
  const held = earlier.filter((input, at) => {
    const field = fields[at];
    return field && !input.isLost(field);
  });
  keptBy.set(session, [...held, ...latest].slice(-MOST_KEPT));
}

/** Throws INPUT_NOT_TAKEN as {@link takeInputs} does, while nothing acts. */
export async function refuseLost(session: DrivenSession, signal: AbortSignal): Promise<void> {
  const kept = await takeInputs(session, signal);
  if (kept.length > 0) keptBy.set(session, kept);
}

/** What the fields hold now; undefined for one that is gone, and for all while the page does not answer. */
async function readFields(
  session: DrivenSession,
  kept: KeptInputs,
  signal: AbortSignal,
): Promise<readonly (HeldField | undefined)[]> {
  const isThere = session.isAlive() && session.pages().length > 0;
  const page = isThere ? session.page() : undefined;
  const tokens = kept.filter((input) => input.page === page).map(({ token }) => token);
  if (!page || tokens.length === 0) return [];
  const limit = withDeadline(signal, ANSWER_MS);
  try {
    const found = await heldFields(page, tokens, limit.signal);
    return kept.map(({ token }) => found.get(token));
  } catch {
    signal.throwIfAborted();
    return [];
  } finally {
    limit.done();
  }
}

/** What fields that were noted hold now, by their tokens; one that is gone is absent. */
export async function heldFields(
  page: Page,
  tokens: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, HeldField>> {
  const answers = await askFrames(page, signal, (frame) => askAgent(frame, "heldFields", [tokens]));
  const held = answers.flatMap(({ answer }) => answer);
  return new Map(held.map((field) => [field.token, field]));
}

/**
 * A page that heard the input may clear the field rightly: it then sends the input on, or says why beside the field. One that did
 * not hear it has no reason to.
 */
function isExplained(session: DrivenSession, { page, began }: Kept, { before, now }: HeldField): boolean {
  if (!before.heard) return false;
  return now.around !== before.around || session.signals(page).requests.lastWrite() >= began;
}
