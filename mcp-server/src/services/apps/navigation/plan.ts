import type { Failure, Node } from "../../../domain/index.ts";
import { verdictOf } from "../../records/verdicts.ts";
import { findEntry, getEdge, getNode } from "../userinterfaces/model.ts";
import { arrive } from "./arrive.ts";
import { type Leg, type Path, shortestPath } from "./graph.ts";
import type { Trip } from "./trip.ts";

type Planned = { ok: true; from: Node; path: Path } | { ok: false; failure: Failure };

/** From where the device is. If there is no way, or that is not known, from the entry, whose edges run from anywhere. */
export async function plan(trip: Trip, at: Node | undefined, target: Node): Promise<Planned> {
  trip.reopenedAt = undefined;
  const path = at && shortestPath(trip.graph, at.id, target.id, { exclude: trip.excluded });
  if (at && path) return { ok: true, from: at, path };
  const entry = findEntry(trip.model);
  if (!entry) return { ok: false, failure: noEntry(trip, at, target) };
  const fromEntry = shortestPath(trip.graph, entry.id, target.id, { exclude: trip.excluded });
  if (!fromEntry) return { ok: false, failure: noPath(trip, at ?? entry, target) };
  const failure = await enterApp(trip, at, entry, fromEntry);
  return failure ? { ok: false, failure } : { ok: true, from: entry, path: fromEntry };
}

/** Makes sure that a run can start at the entry. An entry with checks is a place that must show; else it is only a start. */
async function enterApp(
  trip: Trip,
  at: Node | undefined,
  entry: Node,
  path: Path,
): Promise<Failure | undefined> {
  const isPlace = entry.verifications.length > 0;
  if (isPlace && !trip.isElsewhere && (await trip.seesNode(entry))) return undefined;
  if (!isPlace && path.legs.length > 0 && hasActions(trip, path.legs[0])) return undefined;
  const failure = await openApp(trip, isPlace || isCheckedFirst(trip, path));
  trip.isElsewhere = false;
  // A page that is opened starts over, and edges that failed are the app's fault.
  const { url, package: id, deep_link } = trip.model.ui.app;
  const comesBack = url === undefined && (id ?? deep_link) !== undefined;
  trip.reopenedAt = comesBack && trip.excluded.length === 0 ? at : undefined;
  if (failure || !isPlace) return failure;
  const arrival = await arrive(trip, entry, []);
  if (!arrival.ok) return arrival.failure;
  trip.reopenedAt = undefined;
  await trip.stand(entry, true);
  return undefined;
}

/** Whether the first leg ends at a place whose checks judge the opened page. */
function isCheckedFirst(trip: Trip, { legs: [first] }: Path): boolean {
  return first !== undefined && trip.isChecked(getNode(trip.model, first.to));
}

function hasActions(trip: Trip, leg: Leg | undefined): boolean {
  if (!leg || !("edge_id" in leg)) return false;
  return getEdge(trip.model, leg.edge_id).action_sets.some(
    ({ id, actions }) => id === leg.action_set_id && actions.length > 0,
  );
}

const openCommand = "open_app";

/** Opens the app, where its model says how and the device can; otherwise the screen is left as it is. */
async function openApp(trip: Trip, isChecked: boolean): Promise<Failure | undefined> {
  const { url, package: id, deep_link } = trip.model.ui.app;
  const { actions, clock } = trip.ports;
  const canOpen = actions.list(trip.device).some(({ command }) => command.name === openCommand);
  if ((url ?? id ?? deep_link) === undefined || !canOpen) return undefined;
  const started = clock.monotonic();
  const opening = [{ command: openCommand, params: { app: "{{app}}" } }];
  const batch = { actions: opening, retry_actions: [], failure_actions: [] };
  const report = await trip.act(batch, isChecked);
  const { failure: error } = report;
  await trip.run.step({
    ...trip.stepOf(clock.monotonic() - started),
    label: `open ${trip.model.ui.name}`,
    status: error ? verdictOf(error.code) : "passed",
    input: { actions: opening },
    output: { results: report.results },
    ...(error && { error }),
    artifacts: [],
  });
  return error;
}

function noEntry(trip: Trip, at: Node | undefined, target: Node): Failure {
  const where = at ? `there is no way to it from "${at.label}"` : "nobody knows where the device is";
  return {
    code: at ? "NO_PATH" : "NO_ENTRY_NODE",
    message: `"${target.label}" cannot be reached: ${where}, and ${trip.model.ui.name} has no node of type entry to start from. Make one (create_node).`,
  };
}

const noPath = (trip: Trip, from: Node, target: Node): Failure => ({
  code: "NO_PATH",
  message: `No way leads from "${from.label}" to "${target.label}"${trip.excluded.length > 0 ? " without the edges that failed" : ""}. An edge makes one (create_edge).`,
});
