import type { LabUi } from "../labUi.ts";

export type Process = { pid: number; user: string; name: string };

const firstPid = 4_000;
const firstAppUser = 100;
const fromBoot: readonly Process[] = [
  { pid: 1, user: "root", name: "init" },
  { pid: 301, user: "root", name: "zygote64" },
  { pid: 412, user: "shell", name: "adbd" },
  { pid: 1_204, user: "system", name: "system_server" },
  { pid: 1_702, user: "u0_a99", name: "com.android.systemui" },
];

/** What runs. A process keeps its number until it ends; the next one of the same app has another. */
export class Processes {
  private readonly apps = new Map<string, Process>();
  private readonly serving = new Set<string>();
  private readonly lastPids = new Map<string, number>();
  private next = firstPid;

  constructor(private readonly ui: LabUi) {
    ui.onEvent((event) => {
      if (event.type === "started") this.of(event.packageName);
      if (event.type === "stopped" || event.type === "crashed") this.apps.delete(event.packageName);
    });
  }

  all(): readonly Process[] {
    return [...fromBoot, ...new Set([...this.ui.running(), ...this.serving])].flatMap((one) =>
      typeof one === "string" ? [this.of(one)] : [one],
    );
  }

  find(name: string): Process | undefined {
    return this.all().find((process) => process.name === name);
  }

  /** Of the latest process of this name, also when it has ended; 0 where there was none. */
  pidOf(name: string): number {
    return fromBoot.find((one) => one.name === name)?.pid ?? this.lastPids.get(name) ?? 0;
  }

  services(): readonly Process[] {
    return [...this.serving].map((name) => this.of(name));
  }

  startService(name: string): void {
    this.serving.add(name);
  }

  endService(name: string): void {
    this.serving.delete(name);
    this.apps.delete(name);
  }

  private of(name: string): Process {
    const known = this.apps.get(name);
    if (known) return known;
    this.next += 1;
    const started = { pid: this.next, user: `u0_a${this.next - firstPid + firstAppUser}`, name };
    this.apps.set(name, started);
    this.lastPids.set(name, started.pid);
    return started;
  }
}
