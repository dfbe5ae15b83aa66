import type { UiEvent } from "../labUi.ts";
import type { LogBuffer, LogLevel } from "./log.ts";
import type { System } from "./system.ts";

type Lines = { level: LogLevel; tag: string; text: string; buffer?: LogBuffer; pid?: number }[];

const systemServer = "system_server";

/** Clients wait for a first line: no device that has started has an empty log. */
const bootLines: Lines = [
  { level: "I", tag: "SystemServer", text: "Entered the Android system server!", buffer: "main" },
  { level: "I", tag: "ActivityManager", text: "System now ready" },
];

/** Writes into the log what a system's services write about its start and about what the screen does. */
export function writeLogOf(system: System): void {
  const write = (lines: Lines) => {
    for (const { text, buffer = "system", pid, ...line } of lines) {
      system.log.write({ ...line, buffer, pid: pid ?? system.processes.pidOf(systemServer) }, text);
    }
  };
  write(bootLines);
  system.ui.onEvent((event) => write(linesOf(event, system)));
}

function linesOf(event: UiEvent, system: System): Lines {
  if (event.type === "started") return started(event, system);
  if (event.type === "crashed") return crashed(event, system);
  if (event.type === "not responding") return notResponding(event, system);
  if (event.type !== "stopped") return [];
  const text = `Force stopping ${event.packageName} appid=10100 user=0: from pid ${system.processes.pidOf("adbd")}`;
  return [{ level: "I", tag: "ActivityManager", text }];
}

function started(event: UiEvent & { type: "started" }, system: System): Lines {
  const component = `${event.packageName}/${event.activity}`;
  const pid = system.processes.pidOf(event.packageName);
  const user = system.apiLevel >= 34 ? " for user 0" : "";
  const start = `Start proc ${pid}:${event.packageName}/u0a100 for next-top-activity {${component}}`;
  return [
    {
      level: "I",
      tag: "ActivityTaskManager",
      text: `START u0 {act=android.intent.action.MAIN cmp=${component}} from uid 2000`,
    },
    ...(event.cold ? [{ level: "I" as const, tag: "ActivityManager", text: start }] : []),
    {
      level: "I",
      tag: "ActivityTaskManager",
      text: `Displayed ${component}${user}: +${event.tookMs}ms`,
    },
  ];
}

function crashed({ packageName, reason }: UiEvent & { type: "crashed" }, system: System): Lines {
  const pid = system.processes.pidOf(packageName);
  const { activity } = system.ui.front();
  const trace = [
    "FATAL EXCEPTION: main",
    `Process: ${packageName}, PID: ${pid}`,
    `java.lang.RuntimeException: ${reason}`,
    `\tat ${packageName}.Main.onClick(Main.java:42)`,
    "\tat android.os.Handler.dispatchMessage(Handler.java:106)",
    "\tat android.app.ActivityThread.main(ActivityThread.java:8177)",
  ].join("\n");
  return [
    { level: "E", tag: "AndroidRuntime", text: trace, buffer: "crash", pid },
    {
      level: "I",
      tag: "am_crash",
      text: `[${pid},0,${packageName},551108166,java.lang.RuntimeException,${reason},Main.java,42]`,
      buffer: "events",
    },
    {
      level: "W",
      tag: "ActivityTaskManager",
      text: `  Force finishing activity ${packageName}/${activity}`,
    },
  ];
}

function notResponding({ packageName, reason }: UiEvent & { type: "not responding" }, system: System): Lines {
  const pid = system.processes.pidOf(packageName);
  const lines = [`ANR in ${packageName}`, `PID: ${pid}`, `Reason: ${reason}`, "Load: 1.52 / 0.91 / 0.43"];
  return [
    { level: "I", tag: "am_anr", text: `[0,${pid},${packageName},551108166,${reason}]`, buffer: "events" },
    { level: "E", tag: "ActivityManager", text: lines.join("\n") },
  ];
}
