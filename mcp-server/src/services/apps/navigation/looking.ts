import type { Node } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice, ScreenService, VerificationExecutor } from "../../ports.ts";
import { inApp } from "../../records/inUse.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { type AppModel, getNode, variablesOf } from "../userinterfaces/model.ts";
import type { Histories } from "./history.ts";
import type { Positions } from "./positions.ts";
import { seesNode } from "./walk.ts";

/** Looks that finding out where a device is may cost. */
const identifyLooks = 20;

/** A `verified` position was seen to be true less than the stale time ago. */
type PositionView = {
  node?: string;
  node_id?: string;
  verified: boolean;
  age_ms?: number;
  source: "tracked" | "identified" | "unknown";
  looked_at?: number;
};

export type LookingDependencies = {
  verifications: VerificationExecutor;
  screen: Pick<ScreenService, "capture" | "slowness">;
  userinterfaces: UserInterfaceService;
};

/** The part of navigation that reads the screen and moves nothing. */
export function createLooking(
  { verifications, screen, userinterfaces }: LookingDependencies,
  positions: Positions,
  histories: Histories,
) {
  async function identified(
    device: OpenDevice,
    model: AppModel,
    tracked: Node | undefined,
    signal: AbortSignal,
  ): Promise<PositionView> {
    const history = await histories.get(model, device.model);
    const places = history.placesToTry(model, tracked ? [tracked] : [], identifyLooks);
    for (const [index, place] of places.entries()) {
      if (!(await seesNode(verifications, device, place, variablesOf(model.ui), signal))) continue;
      await positions.put(device.id, model.ui.id, place.id, true);
      return named(place, true, "identified", { age_ms: 0, looked_at: index + 1 });
    }
    await positions.put(device.id, model.ui.id, undefined, false);
    return { verified: false, source: "unknown", looked_at: places.length };
  }

  return {
    /** `identify`: looks at the screen, at most at 20 nodes' checks; otherwise returns the tracked position. */
    async position(
      device: OpenDevice,
      { userinterface_name, identify }: { userinterface_name: string; identify: boolean },
      signal: AbortSignal,
    ): Promise<PositionView> {
      const model = await userinterfaces.load(userinterface_name);
      const tracked = await positions.find(device.id, model.ui.id);
      const node = model.nodes.get(tracked?.node_id ?? "");
      if (identify) return inApp(model.ui, () => identified(device, model, node, signal));
      if (!tracked || !node) return { verified: false, source: "unknown" };
      return named(node, tracked.verified && !tracked.stale, "tracked", { age_ms: tracked.age_ms });
    },
    /** Polls a node's own checks. Throws INVALID_INPUT for a node that has none. */
    async verifyNode(
      device: OpenDevice,
      request: { userinterface_name: string; node: string; timeout_ms: number },
      signal: AbortSignal,
    ) {
      const model = await userinterfaces.load(request.userinterface_name);
      const { id, label, verifications: checks, pass_condition } = getNode(model, request.node);
      if (checks.length === 0) {
        const message = `"${label}" has no checks, so nothing shows that the device is there.`;
        throw new ToolError("INVALID_INPUT", message, "Give it some with update_node.");
      }
      const variables = variablesOf(model.ui);
      const options = { passCondition: pass_condition, timeoutMs: request.timeout_ms, variables, signal };
      const report = await inApp(model.ui, () => verifications.check(device, checks, options));
      if (report.pass) await positions.put(device.id, model.ui.id, id, true);
      return { node: id, label, ...report };
    },
    /** Keeps a picture of what the device shows now with the node. */
    async saveScreenshot(
      device: OpenDevice,
      { userinterface_name, node }: { userinterface_name: string; node: string },
      signal: AbortSignal,
    ) {
      const model = await userinterfaces.load(userinterface_name);
      const { id } = getNode(model, node);
      const taken = await screen.capture(device, signal);
      if (!taken) {
        const message = `${device.id} has no screen to take a picture of.`;
        const hint = "Use a device that has one; see get_device_info.";
        throw new ToolError("CONTROLLER_UNAVAILABLE", message, hint);
      }
      const { uri, mime_type } = taken.artifact;
      await userinterfaces.setScreenshot(model.ui.id, id, uri);
      return { node: id, uri, mime_type };
    },
  };
}

function named(
  { id, label }: Node,
  verified: boolean,
  source: PositionView["source"],
  rest: Pick<PositionView, "age_ms" | "looked_at">,
): PositionView {
  return { node: label, node_id: id, verified, source, ...rest };
}
