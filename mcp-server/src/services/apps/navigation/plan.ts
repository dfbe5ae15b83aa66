import type { Failure, Node } from "../../../domain/index.ts";
import { verdictOf } from "../../records/verdicts.ts";
import { findEntry, getEdge, getNode } from "../userinterfaces/model.ts";
import { arrive } from "./arrive.ts";
import { type Leg, type Path, shortestPath } from "./graph.ts";
import type { Walk } from "./walk.ts";

type Planned = { ok: true; from: Node; path: Path } | { ok: false; failure: Failure };

/** From where the device is. If there is no way, or that is not known, from the entry, whose edges run from anywhere. */
export async function plan(walk: Walk, at: Node | undefined, target: Node): Promise<Planned> {
  walk.reopenedAt = undefined;
  const path = at && shortestPath(walk.graph, at.id, target.id, { exclude: walk.excluded });
  if (at && path) return { ok: true, from: at, path };
  const entry = findEntry(walk.model);
  if (!entry) return { ok: false, failure: noEntry(walk, at, target) };
  const fromEntry = shortestPath(walk.graph, entry.id, target.id, { exclude: walk.excluded });
  if (!fromEntry) return { ok: false, failure: noPath(walk, at ?? entry, target) };
  const failure = await enterApp(walk, at, entry, fromEntry);
  return failure ? { ok: false, failure } : { ok: true, from: entry, path: fromEntry };
}

/** Makes sure that a run can start at the entry. An entry with checks is a place that must show; else it is only a start. */
async function enterApp(
  walk: Walk,
  at: Node | undefined,
  entry: Node,
  path: Path,
): Promise<Failure | undefined> {
  const isPlace = entry.verifications.length > 0;
  if (isPlace && !walk.isElsewhere && (await walk.seesNode(entry))) return undefined;
  if (!isPlace && path.legs.length > 0 && hasActions(walk, path.legs[0])) return undefined;
  const failure = await openApp(walk, isPlace || isCheckedFirst(walk, path));
  walk.isElsewhere = false;
  // A page that is opened starts over, and edges that failed are the app's fault.
  const { url, package: id, deep_link } = walk.model.ui.app;
  const comesBack = url === undefined && (id ?? deep_link) !== undefined;
  walk.reopenedAt = comesBack && walk.excluded.length === 0 ? at : undefined;
  if (failure || !isPlace) return failure;
  const arrival = await arrive(walk, entry, []);
  if (!arrival.ok) return arrival.failure;
  walk.reopenedAt = undefined;
  await walk.stand(entry, true);
  return undefined;
}

/** Whether the first leg ends at a place whose checks judge the opened page. */
function isCheckedFirst(walk: Walk, { legs: [first] }: Path): boolean {
  return first !== undefined && walk.isChecked(getNode(walk.model, first.to));
}

function hasActions(walk: Walk, leg: Leg | undefined): boolean {
  if (!leg || !("edge_id" in leg)) return false;
  return getEdge(walk.model, leg.edge_id).action_sets.some(
    ({ id, actions }) => id === leg.action_set_id && actions.length > 0,
  );
}

const openCommand = "open_app";

/** Opens the app, where its model says how and the device can; otherwise the screen is left as it is. */
async function openApp(walk: Walk, isChecked: boolean): Promise<Failure | undefined> {
  const { url, package: id, deep_link } = walk.model.ui.app;
  const { actions, clock } = walk.ports;
  const canOpen = actions.list(walk.device).some(({ command }) => command.name === openCommand);
  if ((url ?? id ?? deep_link) === undefined || !canOpen) return undefined;
  const started = clock.monotonic();
  const opening = [{ command: openCommand, params: { app: "{{app}}" } }];
  const batch = { actions: opening, retry_actions: [], failure_actions: [] };
  const report = await walk.act(batch, isChecked);
  const { failure: error } = report;
  await walk.run.step({
    ...walk.stepOf(clock.monotonic() - started),
    label: `open ${walk.model.ui.name}`,
    status: error ? verdictOf(error.code) : "passed",
    input: { actions: opening },
    output: { results: report.results },
    ...(error && { error }),
    artifacts: [],
  });
  return error;
}

function noEntry(walk: Walk, at: Node | undefined, target: Node): Failure {
  const where = at ? `there is no way to it from "${at.label}"` : "it is not known where the device is";
  return {
    code: at ? "NO_PATH" : "NO_ENTRY_NODE",
    message: `"${target.label}" cannot be reached: ${where}, and ${walk.model.ui.name} has no node of type entry to start from. Make one (create_node).`,
  };
}

const noPath = (walk: Walk, from: Node, target: Node): Failure => ({
  code: "NO_PATH",
  message: `No way leads from "${from.label}" to "${target.label}"${walk.excluded.length > 0 ? " without the edges that failed" : ""}. An edge makes one (create_edge).`,
});
