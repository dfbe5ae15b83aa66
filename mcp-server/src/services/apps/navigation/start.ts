import type { Node } from "../../../domain/index.ts";
import { isRecognisable } from "./maps.ts";
import type { Tracked } from "./positions.ts";
import type { Trip } from "./trip.ts";

/** Looks spent on finding out where the device is before a start. */
const likelyNodes = 10;

/** Where the device stands, and whether a look or a fresh position says so. */
export type Standing = { node: Node; verified: boolean };

/** A position that is fresh is trusted; an old or doubtful one is looked at; without one the screen is searched. */
export async function findStart(trip: Trip, target: Node): Promise<Standing | undefined> {
  const tracked = await trip.ports.positions.find(trip.device.id, trip.model.ui.id);
  const node = trip.model.nodes.get(tracked?.node_id ?? "");
  const standing = tracked && node && (await trust(trip, node, tracked, target));
  if (standing) return standing;
  const found = await trip.locate(placesToTry(trip, [target], likelyNodes, node));
  return found && (await standSeen(trip, found, target));
}

/** A place without checks cannot be looked at: it is believed while it is fresh. The target is always looked at. */
async function trust(trip: Trip, node: Node, tracked: Tracked, target: Node): Promise<Standing | undefined> {
  const isChecked = node.verifications.length > 0;
  const isTrusted = !tracked.stale && (tracked.verified || !isChecked);
  if (isTrusted && (node.id !== target.id || !isChecked))
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
