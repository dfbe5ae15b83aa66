import type { Node } from "../../../domain/index.ts";
import type { Tracked } from "./positions.ts";
import type { Walk } from "./walk.ts";

/** Looks spent on finding out where the device is before a start. */
const likelyNodes = 10;

/** Where the device is, and whether its checks or a fresh position say so. */
export type Standing = { node: Node; verified: boolean };

/** Trusts a fresh position, looks at an old or doubtful one, else searches the screen. Not while another app is in front. */
export async function findStart(walk: Walk, target: Node): Promise<Standing | undefined> {
  const tracked = await walk.ports.positions.find(walk.device.id, walk.model.ui.id);
  const node = walk.model.nodes.get(tracked?.node_id ?? "");
  walk.isElsewhere = !isOnItsWay(walk, tracked, node) && (await showsAnotherApp(walk));
  if (walk.isElsewhere) return undefined;
  const standing = tracked && node && (await trust(walk, node, tracked, target));
  if (standing) return standing;
  const places = walk.history.placesToTry(walk.model, [target], likelyNodes + 1);
  const found = await walk.locate(places.filter((place) => place !== node).slice(0, likelyNodes));
  return found && (await standSeen(walk, found, target));
}

/** A way may lead through other apps, such as a permission dialog, so the app must be in front only where the way begins. */
function isOnItsWay({ run }: Walk, tracked: Tracked | undefined, node: Node | undefined): boolean {
  if (!tracked || !node || tracked.led_by === undefined) return false;
  return tracked.led_by === run.id || (run.kind === "navigation" && isFresh(node, tracked));
}

const appShown = "app_shown";

/** False where that cannot be known: the app has no package, or the device, such as a browser, no check for it. */
async function showsAnotherApp(walk: Walk): Promise<boolean> {
  const { ports, device, signal } = walk;
  const { package: id } = walk.model.ui.app;
  const hasCheck = ports.verifications.list(device).some(({ check }) => check.name === appShown);
  if (id === undefined || !hasCheck) return false;
  const checks = [{ command: appShown, params: { app: { package: id } }, timeout_ms: 0 }];
  try {
    const { verdicts } = await ports.verifications.check(device, checks, walk.options(0));
    return verdicts.some(({ pass, error, inconclusive }) => !pass && (error ?? inconclusive) === undefined);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

/** Nothing else drove the device since it was seen there, or since it was led to a place without checks. */
const isFresh = (node: Node, { stale, verified }: Tracked): boolean =>
  !stale && (verified || node.verifications.length === 0);

/** A place without checks cannot be looked at: it is believed while it is fresh. The target is always looked at. */
async function trust(walk: Walk, node: Node, tracked: Tracked, target: Node): Promise<Standing | undefined> {
  const isChecked = node.verifications.length > 0;
  if (isFresh(node, tracked) && (node.id !== target.id || !isChecked))
    return { node, verified: tracked.verified && isChecked };
  return (await walk.seesNode(node)) ? standSeen(walk, node, target) : undefined;
}

async function standSeen(walk: Walk, node: Node, target: Node): Promise<Standing> {
  if (node.id === target.id) walk.run.verified(node.verifications.length);
  await walk.stand(node, true);
  return { node, verified: true };
}
