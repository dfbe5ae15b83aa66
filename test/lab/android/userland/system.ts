import type { LabFaults } from "../faults.ts";
import type { ShellIo } from "../labShell.ts";
import type { Clock, LabUi } from "../labUi.ts";
import { type Delay, delayOf } from "../personas/delays.ts";
import type { Persona, SettingNamespace } from "../personas/persona.ts";
import { FileSystem } from "./files.ts";
import { SystemLog } from "./log.ts";
import { Packages } from "./packages.ts";
import { Processes } from "./processes.ts";
import type { Shell } from "./sh/shell.ts";

/** What an instrumentation brings: the endpoints that it listens on, and the ports of this machine that they are. */
export type Instrumentation = {
  ports: ReadonlyMap<string, number>;
  ended: Promise<unknown>;
  close(): Promise<void>;
};

export type Parts = {
  persona: Persona;
  ui: LabUi;
  clock: Clock;
  faults: LabFaults;
  delays: readonly Delay[];
  /** Starts what `am instrument` runs; undefined where there is nothing of this component. */
  instrument(component: string): Promise<Instrumentation> | undefined;
  reboot(): void;
};

export type CommandContext = ShellIo & { system: System; shell: Shell };
/** A program: it writes to its streams and returns its exit code. */
export type Command = (args: readonly string[], context: CommandContext) => number | Promise<number>;

type Place = { latitude: number; longitude: number; altitude: number };
export const home: Place = { latitude: 48.137_154, longitude: 11.576_124, altitude: 519 };

export class System {
  readonly files: FileSystem;
  readonly log: SystemLog;
  readonly packages: Packages;
  readonly processes: Processes;
  readonly properties: Map<string, string>;
  readonly settings: Map<SettingNamespace, Map<string, string>>;
  /** What listens on the device, such as `tcp:6790`, and the port of this machine that it is. */
  readonly endpoints = new Map<string, number>();
  /** The owner of the only UiAutomation; `end` ends it. */
  readonly automation = new Map<string, () => void>();
  location: Place = home;
  /** Whether the shell may pretend to be elsewhere, and the providers by which it does. */
  mayMockLocation = false;
  readonly testProviders = new Set<string>();
  /** Languages of apps that have one of their own, by package. */
  readonly locales = new Map<string, string>();
  /** What the media store lists: files that were there at its latest scan. */
  media: readonly string[] = [];
  /** Programs and services that were asked for and do not exist, with their line. */
  readonly unknown: string[] = [];
  readonly history: string[] = [];

  constructor(readonly parts: Parts) {
    const { persona, ui, faults } = parts;
    this.log = new SystemLog(() => parts.clock.now());
    this.files = new FileSystem(() => faults.storageFull);
    this.packages = new Packages(persona, ui, this.files);
    this.processes = new Processes(ui);
    this.properties = new Map(Object.entries(persona.properties));
    const { system, secure, global } = persona.settings;
    this.settings = new Map([
      ["system", new Map(Object.entries(system))],
      ["secure", new Map(Object.entries(secure))],
      ["global", new Map(Object.entries(global))],
    ]);
  }

  get ui(): LabUi {
    return this.parts.ui;
  }

  get apiLevel(): number {
    return this.parts.persona.apiLevel;
  }

  /** Takes as long as a real device does for this line, by the delays that it was given. */
  async delay(line: string, signal: AbortSignal): Promise<void> {
    const { delays, faults } = this.parts;
    const extraMs = faults.extraDelayMs[line.split(" ", 1)[0] ?? ""] ?? 0;
    const ms = delayOf(delays, line, this.apiLevel) + extraMs;
    if (ms > 0) await this.wait(ms, signal);
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.parts.clock.after(ms, end);
      signal.addEventListener("abort", end, { once: true });
    });
  }
}
