import type { Command, CommandContext, System } from "../system.ts";
import { answerOf, startHelper } from "./appiumSettings.ts";
import { scanMedia } from "./content.ts";
import { instrument } from "./instrument.ts";
import { type Intent, intentText, readIntent } from "./intent.ts";
import { fail, print } from "./reply.ts";

type Action = (args: readonly string[], context: CommandContext) => number | Promise<number>;

/** `am`, which is also `cmd activity`. */
export const am: Command = (args, context) => {
  const [name = "", ...rest] = args;
  const action = actions[name];
  return action ? action(rest, context) : fail(context, `Unknown command: ${name}`, 255);
};

const actions: Readonly<Record<string, Action>> = {
  start: startActivity,
  "start-activity": startActivity,
  "force-stop": (args, { system }) => stopPackage(args, system),
  kill: (args, { system }) => stopPackage(args, system),
  "kill-all": () => 0,
  crash: (args, { system }) => {
    system.ui.crash(args.at(-1) ?? "", "shell-induced crash");
    return 0;
  },
  broadcast: (args, context) => {
    const intent = readIntent(args);
    if (intent.action === "android.intent.action.MEDIA_SCANNER_SCAN_FILE") scanMedia(context.system);
    const answer = answerOf(intent, context.system) ?? "result=0";
    return print(context, `Broadcasting: Intent { ${intentText(intent)} }\nBroadcast completed: ${answer}\n`);
  },
  instrument,
  "get-current-user": (_, context) => print(context, "0\n"),
  "get-config": (_, context) => {
    const { screen } = context.system.parts.persona;
    const size = `w${Math.round((screen.width * 160) / screen.density)}dp`;
    const locale = context.system.properties.get("persist.sys.locale")?.replace("-", "-r") ?? "en-rUS";
    return print(context, `config: ${locale}-${size}-${screen.density}dpi-v${context.system.apiLevel}\n`);
  },
  "switch-user": () => 0,
  "idle-maintenance": () => 0,
  stack: (_, context) => print(context, `${topRecord(context.system)}\n`),
};

/** The activity in front, as dumps of the activity manager name it. */
export function topRecord({ ui }: System): string {
  const { packageName, activity } = ui.front();
  return `ActivityRecord{7f3c1a0 u0 ${packageName}/${activity} t12}`;
}

function stopPackage(args: readonly string[], system: System): number {
  const name = args.at(-1) ?? "";
  system.automation.get(name)?.();
  system.processes.endService(name);
  system.ui.stop(name);
  return 0;
}

async function startActivity(args: readonly string[], context: CommandContext): Promise<number> {
  const { system, out } = context;
  const intent = readIntent(args);
  await out(`Starting: Intent { ${intentText(intent)} }\n`);
  const { startFailure } = system.parts.faults;
  if (startFailure !== undefined) return fail(context, startFailure, 255);
  const launched = launch(intent, system);
  if (!launched) return notResolved(intent, context);
  if (launched.state === "HOT") {
    await out("Warning: Activity not started, its current task has been brought to the front\n");
  }
  const { packageName, activity } = system.ui.front();
  const waited = [
    "Status: ok",
    `LaunchState: ${launched.state}`,
    `Activity: ${packageName}/${activity}`,
    `TotalTime: ${launched.tookMs}`,
    `WaitTime: ${launched.tookMs + 4}`,
    "Complete",
  ];
  return print(context, intent.flags.has("-W") ? `${waited.join("\n")}\n` : "");
}

type Launched = { state: "COLD" | "WARM" | "HOT"; tookMs: number };

/** Starts what an intent names; undefined where nothing fits it. */
function launch(intent: Intent, system: System): Launched | undefined {
  const launched: Launched = { state: "HOT", tookMs: 0 };
  const ignore = system.ui.onEvent((event) => {
    if (event.type !== "started") return;
    launched.state = event.cold ? "COLD" : "WARM";
    launched.tookMs = event.tookMs;
  });
  const isThere = startTarget(intent, system);
  ignore();
  return isThere ? launched : undefined;
}

/** An intent names an activity, or is one that a deep link or a launcher resolves. */
function startTarget(intent: Intent, system: System): boolean {
  const { component, data, packageName } = intent;
  if (component === undefined && data !== undefined) return opensLink(data, packageName, system);
  const [name = packageName ?? "", activity = ""] = component?.split("/") ?? [];
  const found = system.packages.find(name);
  if (!found) return false;
  if (intent.flags.has("-S")) stopPackage([name], system);
  if (startHelper(name, system)) return true;
  const wanted = component === undefined ? found.launcher : shortActivity(name, activity);
  if (wanted === undefined) return false;
  // What an APK brought has one screen, whatever its activities are.
  const isOne = found.apk !== undefined && wanted === found.launcher;
  const target = isOne ? { packageName: name } : { packageName: name, activity: wanted };
  return system.ui.start(target) !== "no such activity";
}

/** A package with a link limits who may take it. */
function opensLink(link: string, packageName: string | undefined, { ui }: System): boolean {
  const [scheme = ""] = link.split(":", 1);
  const takers = ui.apps().filter(({ schemes }) => schemes.includes(scheme));
  const isMeant = packageName === undefined || takers.some((app) => app.packageName === packageName);
  return isMeant && ui.open(link) !== undefined;
}

/** `com.app.Main` of com.app is `.Main`. */
const shortActivity = (name: string, activity: string) =>
  activity.startsWith(`${name}.`) ? activity.slice(name.length) : activity;

async function notResolved(intent: Intent, context: CommandContext): Promise<number> {
  return intent.component === undefined
    ? fail(
        context,
        `Error: Activity not started, unable to resolve Intent { ${intentText(intent)} flg=0x10000000 }`,
      )
    : fail(context, `Error type 3\nError: Activity class {${intent.component}} does not exist.`);
}
