import type { Database } from "../../../storage/engine/database.ts";
import type { ExecutionRows } from "../../../storage/rows/executionRows.ts";
import type { Clock, DeviceService, EventInput, Secrets } from "../../ports.ts";
import type { AppModel } from "../appInUse.ts";
import type { Notices } from "../notices.ts";

export type Reason = { code: string; message: string };

export type ExecutionDependencies = {
  rows: ExecutionRows;
  devices: DeviceService;
  /** Appends inside the transaction that ends the run. */
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  secrets: Secrets;
  notices: Notices;
  clock: Clock;
  /** An app by its name; runs in an unknown one have the usual test-id attribute. */
  findApp?: (userinterface: string) => Promise<AppModel | undefined>;
  /** Name of this host, kept with each execution. */
  host: string;
  /** Devices that run at the same time; any number when left out. */
  mostDevices?: number;
  /** Told of what nobody waits for: an end that could not be stored, a run that does not stop. */
  onError?: (error: unknown) => void;
};
