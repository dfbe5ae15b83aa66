import type { ActionSet, Edge } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { ActionExecutor, Clock, DeviceService, ExecutionService, Run } from "../../ports.ts";
import { inApp } from "../../records/appInUse.ts";
import { pageOf } from "../../values/pages.ts";
import { type AppModel, edgeLabel, getEdge, getNode } from "../userinterfaces/model.ts";
import { nodeLine } from "../userinterfaces/views.ts";
import { createLooking, type LookingDependencies } from "./looking.ts";
import { Maps } from "./maps.ts";
import { Positions } from "./positions.ts";
import { previewLines } from "./preview.ts";
import { createRuns, navigationTimeoutMs, validationTimeoutMs } from "./runs.ts";
import { reported, type TravelEnd, travel } from "./travel.ts";
import { Trip, type TripPorts } from "./trip.ts";
import type { EdgeRequest, NavigationRequest, NavigationService, ValidationRequest } from "./types.ts";
import { validateEdges } from "./validate.ts";
import { walkLeg } from "./walkLeg.ts";

export { navigationEnd, validationEnd } from "./runs.ts";
export type * from "./types.ts";

export type NavigationDependencies = LookingDependencies & {
  db: Database;
  clock: Clock;
  actions: ActionExecutor;
  devices: Pick<DeviceService, "onDriven" | "onFreshStart">;
  executions: ExecutionService;
  /** `limits.position_stale_ms`: an older position is checked before it is trusted. */
  positionStaleMs: number;
};

/** Goes to places by name, and knows where each device is. */
export function createNavigation(deps: NavigationDependencies): NavigationService {
  const { db, clock, userinterfaces, executions } = deps;
  const positions = new Positions(db, clock, deps.positionStaleMs);
  const maps = new Maps(db, clock);
  deps.devices.onDriven((deviceId) => positions.doubt(deviceId));
  deps.devices.onFreshStart((deviceId) => positions.startFresh(deviceId));
  userinterfaces.onChange((id) => maps.changed(id));
  const moving = createMoving({ ...deps, positions }, maps, deps);
  return {
    ...moving,
    ...createRuns({ executions, userinterfaces, moving }),
    ...createLooking(deps, positions, maps),
    async nodes(userinterface, { offset, max_tokens }) {
      const model = await userinterfaces.load(userinterface);
      const lines = [...model.nodes.values()].map((node) => nodeLine(model, node));
      const { items, more } = pageOf(lines, offset, max_tokens);
      return { nodes: items, more };
    },
    async preview(userinterface, maxTokens) {
      const model = await userinterfaces.load(userinterface);
      const { items, more } = pageOf(previewLines(model), 0, maxTokens);
      return { map: items.join("\n"), more };
    },
  };
}

/** What drives the device, within a run that holds it. */
function createMoving(ports: TripPorts, maps: Maps, { userinterfaces }: LookingDependencies) {
  async function newTrip(
    run: Run,
    model: AppModel,
    request: ValidationRequest,
    limitMs: number,
    checkedTarget?: string,
  ): Promise<Trip> {
    const map = await maps.get(model, run.device.model);
    return new Trip(ports, run, model, map, request.variables ?? {}, limitMs, checkedTarget);
  }
  return {
    async navigate(run, request: NavigationRequest) {
      const model = await userinterfaces.load(request.userinterface);
      const target = getNode(model, request.target);
      const trip = await newTrip(
        run,
        model,
        request,
        request.timeout_ms ?? navigationTimeoutMs,
        request.isChecked ? target.id : undefined,
      );
      return span("navigate", { execution: run.id, node: target.id }, () =>
        inApp(model.ui, () => reported(trip, target, () => travel(trip, target))),
      );
    },
    async executeEdge(run, request: EdgeRequest) {
      const model = await userinterfaces.load(request.userinterface);
      const edge = getEdge(model, request.edge);
      const set = chooseSet(model, edge, request.action_set);
      const { source, target } = edge;
      const [from, to] = set.direction === "forward" ? [source, target] : [target, source];
      const trip = await newTrip(run, model, request, request.timeout_ms ?? navigationTimeoutMs);
      const walk = async (): Promise<TravelEnd> => {
        const leg = { kind: "edge" as const, from, to, edge_id: edge.id, action_set_id: set.id };
        const end = await walkLeg(trip, leg);
        if (!end.ok) return { reached: false, at: undefined, failure: end.failure };
        return { reached: true, at: end.at, verified: end.verified };
      };
      return inApp(model.ui, () => reported(trip, getNode(model, to), walk));
    },
    async validate(run, request) {
      const model = await userinterfaces.load(request.userinterface);
      const limit = request.timeout_ms ?? validationTimeoutMs;
      const whole = await newTrip(run, model, request, limit);
      const restMs = () => Math.max(1, Math.min(navigationTimeoutMs, limit - whole.elapsedMs()));
      return inApp(model.ui, () => validateEdges(whole, () => newTrip(run, model, request, restMs())));
    },
  } satisfies Pick<NavigationService, "navigate" | "executeEdge" | "validate">;
}

/** The named action set, else the first forward one, else the first. */
function chooseSet(model: AppModel, edge: Edge, wanted: string | undefined): ActionSet {
  const { action_sets: sets } = edge;
  const found =
    wanted === undefined
      ? (sets.find(({ direction }) => direction === "forward") ?? sets[0])
      : sets.find(({ id }) => id === wanted);
  if (found) return found;
  throw new ToolError(
    "EDGE_NOT_FOUND",
    `The edge ${edgeLabel(model, edge)} has no action set "${wanted}".`,
    `It has ${sets.map(({ id }) => id).join(", ")}.`,
    { candidates: sets.map(({ id }) => id) },
  );
}
