import { randomBytes } from "node:crypto";
import type { Controller, Frame } from "@labwright/controllers";
import type { Inputs } from "../../devices/inputs.ts";
import type {
  ArtifactStore,
  CallContext,
  Clock,
  DeviceService,
  Grant,
  OpenDevice,
  ScreenService,
} from "../../ports.ts";
import type { AlertService } from "../alerts/index.ts";
import { alertSource, Findings } from "./findings.ts";
import type { Thresholds } from "./stages.ts";

type WatchingDependencies = {
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
  onFault(error: unknown): void;
};

export type Watching = ReturnType<typeof createWatching>;

/** A picture that takes longer is left out. */
const pictureMs = 10_000;

export function createWatching(deps: WatchingDependencies) {
  const { host, alerts, clock, inputs } = deps;
  const watched = new Map(
    deps.watched.map((name) => [`${host}/${name}`, watchedDevice(`${host}/${name}`, deps)]),
  );
  inputs.onInput((deviceId, input) => watched.get(deviceId)?.findings.driven(input));
  return {
    /** Opens the watched devices, and resolves the alerts that an earlier daemon left of devices that are not watched now. */
    async start(): Promise<void> {
      const since = new Date(clock.now()).toISOString();
      for (const alert of await alerts.open(alertSource)) {
        const { id, device_id: deviceId = "", message } = alert;
        const device = watched.get(deviceId);
        if (device) device.findings.adopt(alert);
        else if (deviceId.startsWith(`${host}/`))
          await alerts.resolve(id, {
            message: `${message}; this device is no longer watched since the server was started at ${since}`,
          });
      }
      for (const device of watched.values()) device.start();
    },
    count: () => watched.size,
    async close(): Promise<void> {
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

const lookMs = 5_000;
/** Until a device that could not be opened is tried again: doubled with each failure. */
const pauseMs = { first: 1_000, longest: 60_000 };

/** Keeps one device open and listens to what its controllers find, until it is closed. */
class WatchedDevice {
  private readonly control = new AbortController();
  private readonly listening = new Map<Controller, () => void>();
  private grant: Grant | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    readonly id: string,
    readonly findings: Findings,
    private readonly deps: WatchingDependencies,
  ) {}

  start(): void {
    this.ended = this.keep().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.control.abort(new Error("The server ends."));
    await this.ended;
    for (const end of this.listening.values()) end();
    this.grant?.done();
    await this.findings.stop();
  }

  /** What is open of it. */
  device(): OpenDevice | undefined {
    return this.grant?.device;
  }

  private async keep(): Promise<void> {
    const { clock, onFault } = this.deps;
    const { signal } = this.control;
    let failures = 0;
    while (!signal.aborted) {
      const isWell = await this.look().then(
        () => true,
        (error: unknown) => {
          // Reported once, not at every attempt.
          if (failures === 0 && !signal.aborted) onFault(error);
          return false;
        },
      );
      const pause = Math.min(pauseMs.longest, pauseMs.first * 2 ** failures);
      failures = isWell ? 0 : failures + 1;
      await clock.sleep(isWell ? lookMs : pause, signal);
    }
  }

  /** Opens what is not open, and listens to whom it does not listen yet. */
  private async look(): Promise<void> {
    const { signal } = this.control;
    for (const [controller, end] of this.listening) {
      if (controller.isAlive()) continue;
      end();
      this.listening.delete(controller);
      this.findings.forget(controller);
    }
    this.grant ??= await this.deps.devices.acquire({ device_id: this.id }, this.context(), { drives: false });
    const device = await this.deps.devices.open(this.grant.device, signal);
    this.grant = { ...this.grant, device };
    const silent = device.controllers.filter((one) => !this.listening.has(one) && one.isAlive());
    const heard = silent.flatMap((controller) => this.listen(controller));
    // Sources that were there last time have reported what goes on.
    if (heard.length === 0 && this.listening.size > 0) this.findings.settle();
  }

  private listen(controller: Controller): Controller[] {
    const end = controller.findings?.onFinding((finding) => this.findings.report(controller, finding));
    if (!end) return [];
    this.listening.set(controller, end);
    return [controller];
  }

  private context(): CallContext {
    return {
      principal: alertSource,
      client: alertSource,
      signal: this.control.signal,
      deadline: Number.MAX_SAFE_INTEGER,
      trace_id: randomBytes(16).toString("hex"),
      progress: () => {},
      capabilities: { elicitation: false },
    };
  }
}
