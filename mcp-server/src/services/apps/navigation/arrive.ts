import type { Edge, Failure, Node } from "../../../domain/index.ts";
import type { CheckReport } from "../../ports.ts";
import { stopsWalking } from "../../records/verdicts.ts";
import { sharingEdges } from "../userinterfaces/problems.ts";
import { arrivalMs, type Walk } from "./walk.ts";

/** Where a step led. `verified: false`: the place has no checks and is taken for granted. */
export type Arrival =
  | { ok: true; node: Node; verified: boolean; duration_ms: number }
  | { ok: false; duration_ms: number; failure: Failure };

/** Pause between two rounds of checks of several possible places. */
const roundPauseMs = 100;

/** Waits until the target's checks hold; with several possible places, until one of them does. */
export async function arrive(walk: Walk, target: Node, others: readonly Node[]): Promise<Arrival> {
  const started = walk.ports.clock.monotonic();
  const since = () => Math.round(walk.ports.clock.monotonic() - started);
  const rivals = others.filter(({ verifications }) => verifications.length > 0);
  walk.verdicts = [];
  if (target.verifications.length === 0) {
    const elsewhere = await walk.locate(rivals);
    return { ok: true, node: elsewhere ?? target, verified: elsewhere !== undefined, duration_ms: since() };
  }
  if (rivals.length > 0) {
    const node = await firstSeen(walk, [target, ...rivals]);
    if (node) {
      walk.refused = undefined;
      walk.run.verified(node.verifications.length);
      return { ok: true, node, verified: true, duration_ms: since() };
    }
  }
  const report = await walk.check(target, rivals.length > 0 ? 0 : arrivalMs);
  walk.verdicts = report.verdicts;
  walk.run.verified(report.verdicts.length);
  const { refused } = walk;
  walk.refused = undefined;
  if (report.pass) return { ok: true, node: target, verified: true, duration_ms: since() };
  return { ok: false, duration_ms: since(), failure: notVerified(target.label, report, refused) };
}

/** A server's 4xx or 5xx that the check did not expect is why the check did not hold. */
function notVerified(label: string, { failure }: CheckReport, refused: Failure | undefined): Failure {
  const { message, ...rest } = failure ?? { code: "VERIFICATION_FAILED", message: "its checks did not hold" };
  const whole = { ...rest, message: `"${label}" was not verified: ${message}` };
  if (!refused || stopsWalking(rest.code)) return whole;
  return { ...rest, ...refused, message: `${refused.message} ${whole.message}` };
}

async function firstSeen(walk: Walk, nodes: readonly Node[]): Promise<Node | undefined> {
  const { clock } = walk.ports;
  const deadline = clock.monotonic() + arrivalMs;
  for (;;) {
    const seen = await walk.locate(nodes);
    if (seen || clock.monotonic() >= deadline) return seen;
    await clock.sleep(roundPauseMs, walk.signal);
  }
}

/** The other conditional edges that an action set may lead along. */
export const conditionalEdges = ({ model }: Walk, edge: Edge, actionSetId: string): Edge[] =>
  sharingEdges(model, edge).filter(({ action_sets }) => action_sets.some(({ id }) => id === actionSetId));
