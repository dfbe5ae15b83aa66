import type { Frame } from "@labwright/controllers";
import type { Inputs } from "../../devices/inputs.ts";
import type { ArtifactStore, Clock, DeviceService, ScreenService } from "../../ports.ts";
import type { AlertService } from "../alerts/index.ts";
import { alertSource, Findings } from "./findings.ts";
import type { Thresholds } from "./stages.ts";
import { WatchedDevice } from "./watchedDevice.ts";

export type WatchingDependencies = {
  host: string;
  /** Names of the devices with `watch: true`. */
  watched: readonly string[];
  thresholds: Thresholds;
  devices: Pick<DeviceService, "acquire" | "open">;
  alerts: Pick<AlertService, "raise" | "resolve" | "open">;
  artifacts: Pick<ArtifactStore, "put">;
  screen: Pick<ScreenService, "capture">;
  inputs: Pick<Inputs, "latest" | "onInput">;
  clock: Clock;
  /** Told of faults that nobody waits for. */
  onFault(error: unknown): void;
};

export type Watching = {
  /** Opens the watched devices, and resolves the alerts that an earlier daemon left of devices that nobody watches now. */
  start(): Promise<void>;
  /** How many devices are watched. */
  count(): number;
  close(): Promise<void>;
};

/** A picture that takes longer is left out. */
const pictureMs = 10_000;

/** Watches devices by what their controllers find wrong. */
export function createWatching(deps: WatchingDependencies): Watching {
  const { host, alerts, clock, inputs } = deps;
  const watched = new Map(
    deps.watched.map((name) => [`${host}/${name}`, watchedDevice(`${host}/${name}`, deps)]),
  );
  inputs.onInput((deviceId, input) => watched.get(deviceId)?.findings.driven(input));
  return {
    async start() {
      const since = new Date(clock.now()).toISOString();
      for (const alert of await alerts.open(alertSource)) {
        const { id, device_id: deviceId = "", message } = alert;
        const device = watched.get(deviceId);
        if (device) device.findings.adopt(alert);
        else if (deviceId.startsWith(`${host}/`))
          await alerts.resolve(id, {
            message: `${message}; nobody watches this device since the server was started at ${since}`,
          });
      }
      for (const device of watched.values()) device.start();
    },
    count: () => watched.size,
    async close() {
      await Promise.all([...watched.values()].map((device) => device.close()));
    },
  };
}

function watchedDevice(deviceId: string, deps: WatchingDependencies): WatchedDevice {
  const { alerts, artifacts, clock, inputs, onFault, screen, thresholds } = deps;
  const pictureOf = async (frame: Frame | undefined): Promise<string | undefined> => {
    if (frame) return (await artifacts.put(frame.bytes, frame.mimeType)).uri;
    const device = watched.device();
    return device && (await screen.capture(device, AbortSignal.timeout(pictureMs)))?.artifact.uri;
  };
  const findings = new Findings({
    ...{ deviceId, alerts, clock, thresholds, onFault },
    // An alert without its picture is worth more than none.
    picture: (frame) =>
      pictureOf(frame).catch((error: unknown) => {
        onFault(error);
        return undefined;
      }),
    latestInput: (by) => inputs.latest(deviceId, by),
  });
  const watched: WatchedDevice = new WatchedDevice(deviceId, findings, deps);
  return watched;
}
