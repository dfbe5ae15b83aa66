import type { NavigationReport, Params, ValidationReport, Verdict } from "../../../domain/index.ts";
import type { CallContext, DeviceRef, OpenDevice, Run } from "../../ports.ts";
import type { NodeLine } from "../userinterfaces/views.ts";

export type NavigationRequest = {
  userinterface: string;
  /** Label or id. */
  target: string;
  /** The caller checks the target's screen itself: a server's 4xx or 5xx is then the check's to judge. */
  isChecked?: boolean | undefined;
  /** Fill `{{name}}` over the userinterface's own. */
  variables?: Params | undefined;
  timeout_ms?: number | undefined;
};
export type EdgeRequest = {
  userinterface: string;
  /** Id or `Source → Target`. */
  edge: string;
  /** The first forward one when left out. */
  action_set?: string | undefined;
  variables?: Params | undefined;
  timeout_ms?: number | undefined;
};
export type ValidationRequest = {
  userinterface: string;
  variables?: Params | undefined;
  timeout_ms?: number | undefined;
};

/** Asks for a run on a device, and says how long the caller waits for it. */
export type Asked<Request> = DeviceRef & { wait_ms: number } & Request;

export type NavigationEnd = {
  verified?: boolean;
  at?: string;
  /** The labels that were passed, joined by arrows. */
  path?: string;
  replans?: number;
  expected_ms?: number;
  confidence?: number;
};
/** `queue`: what a queued run waits for. */
type Begun = { execution_id: string; status: string; queue?: string };
export type NavigationReply = Begun & NavigationEnd & { duration_ms?: number };
export type ValidationEnd = {
  passed?: number;
  failed?: number;
  unverified?: number;
  /** One line each of what failed or could not be tried. */
  problems?: string[];
};
export type ValidationReply = Begun & ValidationEnd;

/** `source`: what says so. A position that is `verified` was seen to be true less than the stale time ago. */
export type PositionView = {
  node?: string;
  node_id?: string;
  verified: boolean;
  age_ms?: number;
  source: "tracked" | "identified" | "unknown";
  looked_at?: number;
};

export type NavigationService = {
  /**
   * Goes to a node within a run that holds the device. A way that fails is in the report, not thrown; thrown are
   * USERINTERFACE_NOT_FOUND, NODE_NOT_FOUND, AMBIGUOUS before anything moves, and whatever ended the run.
   */
  navigate(run: Run, request: NavigationRequest): Promise<NavigationReport>;
  /** Runs one edge from where the device is, without going to its source first. */
  executeEdge(run: Run, request: EdgeRequest): Promise<NavigationReport>;
  /** Walks every action set of every edge. */
  validate(run: Run, request: ValidationRequest): Promise<ValidationReport>;
  /** `identify`: look at the screen, at most at 20 nodes' checks; otherwise what is tracked. */
  position(
    device: OpenDevice,
    request: { userinterface_name: string; identify: boolean },
    signal: AbortSignal,
  ): Promise<PositionView>;
  /** Polls a node's own checks. Throws INVALID_INPUT for a node that has none. */
  verifyNode(
    device: OpenDevice,
    request: { userinterface_name: string; node: string; timeout_ms: number },
    signal: AbortSignal,
  ): Promise<{ node: string; label: string; pass: boolean; verdicts: Verdict[] }>;
  nodes(
    userinterface: string,
    page: { offset: number; max_tokens: number },
  ): Promise<{ nodes: NodeLine[]; more: number }>;
  preview(userinterface: string, maxTokens: number): Promise<{ map: string; more: number }>;
  /** Keeps a picture of what the device shows now with the node. */
  saveScreenshot(
    device: OpenDevice,
    request: { userinterface_name: string; node: string },
    signal: AbortSignal,
  ): Promise<{ node: string; uri: string; mime_type: string }>;
  /** The same as executions of their own; a failure is thrown, with the execution's id. */
  runNavigation(request: Asked<NavigationRequest>, context: CallContext): Promise<NavigationReply>;
  runEdge(request: Asked<EdgeRequest>, context: CallContext): Promise<NavigationReply>;
  runValidation(request: Asked<ValidationRequest>, context: CallContext): Promise<ValidationReply>;
};
