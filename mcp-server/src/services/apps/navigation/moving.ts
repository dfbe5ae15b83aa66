import type { ActionSet, Edge, NavigationReport, ValidationReport } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type { Run } from "../../ports.ts";
import { inApp } from "../../records/inUse.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { type AppModel, edgeLabel, getEdge, getNode } from "../userinterfaces/model.ts";
import type { Histories } from "./history.ts";
import { reported, type TravelEnd, travel } from "./travel.ts";
import { validateEdges } from "./validate.ts";
import { navigationTimeoutMs, Walk, type WalkPorts, type WalkRequest } from "./walk.ts";
import { walkLeg } from "./walkLeg.ts";

/** How long a whole validation may take when the caller does not say. */
export const validationTimeoutMs = 1_800_000;

export type NavigationRequest = WalkRequest & {
  target: string;
  /** The caller checks the target's screen itself, and so decides whether a server's 4xx or 5xx is right. */
  isChecked?: boolean | undefined;
};
export type EdgeRequest = WalkRequest & {
  edge: string;
  /** The first forward one when left out. */
  action_set?: string | undefined;
};

export type Moving = ReturnType<typeof createMoving>;

/** The part of navigation that drives the device, within a run that holds it. */
export function createMoving(
  ports: WalkPorts,
  histories: Histories,
  userinterfaces: Pick<UserInterfaceService, "load">,
) {
  return {
    /** A way that fails is in the report. Throws USERINTERFACE_NOT_FOUND, NODE_NOT_FOUND, AMBIGUOUS, and what ended the run. */
    async navigate(run: Run, request: NavigationRequest): Promise<NavigationReport> {
      const model = await userinterfaces.load(request.userinterface);
      const target = getNode(model, request.target);
      const checkedTarget = request.isChecked ? target.id : undefined;
      const history = await histories.get(model, run.device.model);
      const walk = new Walk(ports, run, model, history, request, { checkedTarget });
      return span("navigate", { execution: run.id, node: target.id }, () =>
        inApp(model.ui, () => reported(walk, target, () => travel(walk, target))),
      );
    },
    /** Runs one edge from where the device is, without going to its source first. */
    async executeEdge(run: Run, request: EdgeRequest): Promise<NavigationReport> {
      const model = await userinterfaces.load(request.userinterface);
      const edge = getEdge(model, request.edge);
      const set = chooseSet(model, edge, request.action_set);
      const { source, target } = edge;
      const [from, to] = set.direction === "forward" ? [source, target] : [target, source];
      const walk = new Walk(ports, run, model, await histories.get(model, run.device.model), request);
      const go = async (): Promise<TravelEnd> => {
        const leg = { kind: "edge" as const, from, to, edge_id: edge.id, action_set_id: set.id };
        const end = await walkLeg(walk, leg);
        if (!end.ok) return { reached: false, at: undefined, failure: end.failure };
        return { reached: true, at: end.at, verified: end.verified };
      };
      return inApp(model.ui, () => reported(walk, getNode(model, to), go));
    },
    /** Walks every action set of every edge. */
    async validate(run: Run, request: WalkRequest): Promise<ValidationReport> {
      const model = await userinterfaces.load(request.userinterface);
      const { variables, timeout_ms = validationTimeoutMs } = request;
      const history = await histories.get(model, run.device.model);
      const whole = new Walk(ports, run, model, history, { variables, timeout_ms });
      const { graph } = whole;
      const newWalk = () => {
        const restMs = Math.max(1, Math.min(navigationTimeoutMs, timeout_ms - whole.elapsedMs()));
        return new Walk(ports, run, model, history, { variables, timeout_ms: restMs }, { graph });
      };
      return inApp(model.ui, () => validateEdges(whole, newWalk));
    },
  };
}

function chooseSet(model: AppModel, edge: Edge, wanted: string | undefined): ActionSet {
  const { action_sets: sets } = edge;
  const found =
    wanted === undefined
      ? (sets.find(({ direction }) => direction === "forward") ?? sets[0])
      : sets.find(({ id }) => id === wanted);
  if (found) return found;
  const ids = sets.map(({ id }) => id);
  throw new ToolError(
    "EDGE_NOT_FOUND",
    `The edge ${edgeLabel(model, edge)} has no action set "${wanted}".`,
    `It has ${ids.join(", ")}.`,
    { candidates: ids },
  );
}
