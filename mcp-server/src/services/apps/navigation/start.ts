import type { Node } from "../../../domain/index.ts";
import { isRecognisable } from "./maps.ts";
import type { Tracked } from "./positions.ts";
import type { Trip } from "./trip.ts";

/** Looks spent on finding out where the device is before a start. */
const likelyNodes = 10;

/** Where the device stands, and whether a look or a fresh position says so. */
export type Standing = { node: Node; verified: boolean };

/**
 * A position that is fresh is trusted; an old or doubtful one is looked at; without one the screen is searched. Nothing is
 * looked for while another app is in front, which may show the same texts.
 */
export async function findStart(trip: Trip, target: Node): Promise<Standing | undefined> {
  const tracked = await trip.ports.positions.find(trip.device.id, trip.model.ui.id);
  const node = trip.model.nodes.get(tracked?.node_id ?? "");
  trip.isElsewhere = !isOnItsWay(trip, tracked, node) && (await showsAnotherApp(trip));
  if (trip.isElsewhere) return undefined;
  const standing = tracked && node && (await trust(trip, node, tracked, target));
  if (standing) return standing;
  const found = await trip.locate(placesToTry(trip, [target], likelyNodes, node));
  return found && (await standSeen(trip, found, target));
}

/**
 * Whether this run was led into the app before. An app's way leads through other apps too, such as a permission dialog or a
 * page: only where the way begins must the app be in front. A call that only navigates goes on behind the one before; a test
 * begins anew.
 */
function isOnItsWay({ run }: Trip, tracked: Tracked | undefined, node: Node | undefined): boolean {
  if (!tracked || !node || tracked.led_by === undefined) return false;
  return tracked.led_by === run.id || (run.kind === "navigation" && isFresh(node, tracked));
}

const appShown = "app_shown";

/**
 * False where nothing tells, as of an app without a package. A browser does not know the app by its package: it tells
 * nothing, since sites lead to other sites and a run starts there on an empty page.
 */
async function showsAnotherApp({ ports, model, device, variables, signal }: Trip): Promise<boolean> {
  const { package: id } = model.ui.app;
  const canTell = ports.verifications.list(device).some(({ check }) => check.name === appShown);
  if (id === undefined || !canTell) return false;
  const checks = [{ command: appShown, params: { app: { package: id } }, timeout_ms: 0 }];
  const options = { passCondition: "all" as const, timeoutMs: 0, variables, signal, evidence: false };
  try {
    const { verdicts } = await ports.verifications.check(device, checks, options);
    return verdicts.some(({ pass, error, inconclusive }) => !pass && (error ?? inconclusive) === undefined);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

/** Nobody drove the device since it was seen there, or led to a place that has no checks. */
const isFresh = (node: Node, { stale, verified }: Tracked): boolean =>
  !stale && (verified || node.verifications.length === 0);

/** A place without checks cannot be looked at: it is believed while it is fresh. The target is always looked at. */
async function trust(trip: Trip, node: Node, tracked: Tracked, target: Node): Promise<Standing | undefined> {
  const isChecked = node.verifications.length > 0;
  if (isFresh(node, tracked) && (node.id !== target.id || !isChecked))
    return { node, verified: tracked.verified && isChecked };
  return (await trip.seesNode(node)) ? standSeen(trip, node, target) : undefined;
}

async function standSeen(trip: Trip, node: Node, target: Node): Promise<Standing> {
  if (node.id === target.id) trip.run.verified(node.verifications.length);
  await trip.stand(node, true);
  return { node, verified: true };
}

/** The nodes to look for, in order and each once: `first`, then those most visited, then the rest of the tree. */
export function placesToTry(trip: Trip, first: readonly Node[], limit: number, except?: Node): Node[] {
  const visited = trip.map.visited().flatMap((id) => trip.model.nodes.get(id) ?? []);
  const places = new Set([...first, ...visited, ...trip.model.nodes.values()]);
  if (except) places.delete(except);
  return [...places].filter(isRecognisable).slice(0, limit);
}
