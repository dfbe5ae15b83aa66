import type { Node } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { OpenDevice, ScreenService, VerificationExecutor } from "../../ports.ts";
import { inApp } from "../../records/appInUse.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { type AppModel, getNode, variablesOf } from "../userinterfaces/model.ts";
import { type AppMap, isRecognisable, type Maps } from "./maps.ts";
import type { Positions } from "./positions.ts";
import { seesNode } from "./trip.ts";
import type { NavigationService, PositionView } from "./types.ts";

/** Looks that finding out where a device is may cost. */
const identifyLooks = 20;

export type LookingDependencies = {
  verifications: VerificationExecutor;
  screen: Pick<ScreenService, "capture" | "slowness">;
  userinterfaces: UserInterfaceService;
};

/** What reads the screen and moves nothing. */
export function createLooking(
  { verifications, screen, userinterfaces }: LookingDependencies,
  positions: Positions,
  maps: Maps,
): Pick<NavigationService, "position" | "verifyNode" | "saveScreenshot"> {
  async function identified(
    device: OpenDevice,
    model: AppModel,
    tracked: Node | undefined,
    signal: AbortSignal,
  ): Promise<PositionView> {
    const places = recognisable(model, await maps.get(model, device.model), tracked);
    for (const [index, place] of places.entries()) {
      if (!(await seesNode(verifications, device, place, variablesOf(model.ui), signal))) continue;
      await positions.put(device.id, model.ui.id, place.id, true);
      return named(place, true, "identified", { age_ms: 0, looked_at: index + 1 });
    }
    await positions.put(device.id, model.ui.id, undefined, false);
    return { verified: false, source: "unknown", looked_at: places.length };
  }

  return {
    async position(device, { userinterface_name, identify }, signal) {
      const model = await userinterfaces.load(userinterface_name);
      const tracked = await positions.find(device.id, model.ui.id);
      const node = model.nodes.get(tracked?.node_id ?? "");
      if (identify) return inApp(model.ui, () => identified(device, model, node, signal));
      if (!tracked || !node) return { verified: false, source: "unknown" };
      return named(node, tracked.verified && !tracked.stale, "tracked", { age_ms: tracked.age_ms });
    },
    async verifyNode(device, { userinterface_name, node, timeout_ms }, signal) {
      const model = await userinterfaces.load(userinterface_name);
      const found = getNode(model, node);
      if (found.verifications.length === 0) {
        throw new ToolError(
          "INVALID_INPUT",
          `"${found.label}" has no checks, so nothing can tell that the device is there.`,
          "Give it some with update_node.",
        );
      }
      const options = {
        passCondition: found.pass_condition,
        timeoutMs: timeout_ms,
        variables: variablesOf(model.ui),
        signal,
      };
      const report = await inApp(model.ui, () => verifications.check(device, found.verifications, options));
      if (report.pass) await positions.put(device.id, model.ui.id, found.id, true);
      return { node: found.id, label: found.label, ...report };
    },
    async saveScreenshot(device, { userinterface_name, node }, signal) {
      const model = await userinterfaces.load(userinterface_name);
      const { id } = getNode(model, node);
      const taken = await screen.capture(device, signal);
      if (!taken) {
        const message = `${device.id} has no screen to take a picture of.`;
        throw new ToolError(
          "CONTROLLER_UNAVAILABLE",
          message,
          "Use a device that has one; see get_device_info.",
        );
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

/** The tracked node first, then those most visited, then the others. */
function recognisable(model: AppModel, map: AppMap, tracked: Node | undefined): Node[] {
  const visited = map.visited().flatMap((id) => model.nodes.get(id) ?? []);
  const places = new Set([...(tracked ? [tracked] : []), ...visited, ...model.nodes.values()]);
  return [...places].filter(isRecognisable).slice(0, identifyLooks);
}
