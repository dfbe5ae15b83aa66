import { randomUUID } from "node:crypto";
import type { Clock, LabUi, UiEvent } from "../android/labUi.ts";
import { bundleIdOf } from "./names.ts";

type Entry = { timestamp: number; level: "ALL"; message: string };

const mostEntries = 10_000;
const springBoard = 58;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The logs that a session captures: each entry is returned once, to the first request. */
export class IosLogs {
  readonly #entries: Readonly<Record<"syslog" | "crashlog", Entry[]>> = { syslog: [], crashlog: [] };
  readonly #ui: LabUi;
  readonly #clock: Clock;
  readonly end: () => void;

  constructor(ui: LabUi, clock: Clock) {
    this.#ui = ui;
    this.#clock = clock;
    this.end = ui.onEvent((event) => this.#note(event));
  }

  /** Undefined for a log that this session does not capture. */
  take(type: string): Entry[] | undefined {
    return type === "syslog" || type === "crashlog" ? this.#entries[type].splice(0) : undefined;
  }

  #note(event: UiEvent): void {
    if (event.type === "started") this.#write(`[app<${bundleIdOf(event.packageName)}>] Bootstrap success!`);
    if (event.type === "stopped")
      this.#write(`[app<${bundleIdOf(event.packageName)}>] Process exited: <none>.`);
    if (event.type === "crashed") {
      const id = bundleIdOf(event.packageName);
      this.#write(`Application '${id}' crashed.`, "Error");
      this.#keep("crashlog", reportOf(id, this.#nameOf(event.packageName), event.reason, this.#clock.now()));
    }
  }

  #nameOf(packageName: string): string {
    return this.#ui.apps().find((one) => one.packageName === packageName)?.label ?? packageName;
  }

  /** As a device relays it: `Nov 25 15:00:00 iPhone SpringBoard(FrontBoard)[58] <Notice>: text`. */
  #write(text: string, level = "Notice"): void {
    const now = new Date(this.#clock.now());
    const day = `${months[now.getUTCMonth()]} ${String(now.getUTCDate()).padStart(2)}`;
    const head = `${day} ${now.toISOString().slice(11, 19)} Lab-iPhone SpringBoard(FrontBoard)[${springBoard}]`;
    this.#keep("syslog", `${head} <${level}>: ${text}`);
  }

  #keep(type: "syslog" | "crashlog", message: string): void {
    const entries = this.#entries[type];
    entries.push({ timestamp: this.#clock.now(), level: "ALL", message });
    if (entries.length > mostEntries) entries.shift();
  }
}

/** A report of Apple's format .ips: a line of JSON, then a body of JSON. */
function reportOf(bundleID: string, name: string, reason: string, at: number): string {
  const time = new Date(at).toISOString().replace("T", " ").replace("Z", "0 +0000");
  const head = {
    ...{ app_name: name, timestamp: time, app_version: "1.0", bundleID, bug_type: "309" },
    ...{ os_version: "iPhone OS 17.5 (21F79)", incident_id: randomUUID(), name },
  };
  const body = {
    ...{ procName: name, captureTime: time, bundleInfo: { CFBundleIdentifier: bundleID } },
    exception: { type: "EXC_CRASH", signal: "SIGABRT" },
    termination: { namespace: "SIGNAL", code: 6, indicator: `Abort trap: 6 (${reason})` },
    ...{ faultingThread: 0, threads: [{ triggered: true, frames: [] }] },
  };
  return `${JSON.stringify(head)}\n${JSON.stringify(body, undefined, 2)}`;
}
