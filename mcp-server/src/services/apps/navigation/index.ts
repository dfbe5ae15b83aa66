import type { Database } from "../../../storage/engine/database.ts";
import type { ActionExecutor, Clock, DeviceService, ExecutionService, OpenDevice } from "../../ports.ts";
import { getNode } from "../userinterfaces/model.ts";
import { Histories } from "./history.ts";
import { createLooking, type LookingDependencies } from "./looking.ts";
import { createMoving } from "./moving.ts";
import { Positions } from "./positions.ts";
import { createPreview } from "./preview.ts";
import { createRuns } from "./runs.ts";

export { type NavigationEnd, navigationEnd, type ValidationEnd, validationEnd } from "./runs.ts";

export type NavigationDependencies = LookingDependencies & {
  db: Database;
  clock: Clock;
  actions: ActionExecutor;
  devices: Pick<DeviceService, "onDriven" | "onFreshStart">;
  executions: ExecutionService;
  /** `limits.position_stale_ms`: an older position is checked before it is trusted. */
  positionStaleMs: number;
};

export type NavigationService = ReturnType<typeof createNavigation>;

/** Goes to places by name, and knows where each device is. */
export function createNavigation(deps: NavigationDependencies) {
  const { db, clock, userinterfaces, executions } = deps;
  const positions = new Positions(db, clock, deps.positionStaleMs);
  const histories = new Histories(db, clock);
  deps.devices.onDriven((deviceId) => positions.doubt(deviceId));
  deps.devices.onFreshStart((deviceId) => positions.startFresh(deviceId));
  const moving = createMoving({ ...deps, positions }, histories, userinterfaces);
  return {
    ...moving,
    ...createRuns({ executions, userinterfaces, moving }),
    ...createLooking(deps, positions, histories),
    ...createPreview(userinterfaces),
    /**
     * Notes where a caller says that the device is. Checks of that node are looked at before a way begins there; a node
     * without checks is believed. Throws NODE_NOT_FOUND.
     */
    async believe(device: OpenDevice, said: { userinterface_name: string; node: string }): Promise<void> {
      const model = await userinterfaces.load(said.userinterface_name);
      const { id: app } = model.ui;
      const { id } = getNode(model, said.node);
      const tracked = await positions.find(device.id, app);
      if (tracked?.node_id !== id) await positions.put(device.id, app, id, false);
    },
  };
}
