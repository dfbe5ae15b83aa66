import type { Command, CommandContext } from "../system.ts";
import { am } from "./activity.ts";
import { input } from "./input.ts";
import { pm } from "./packageCommands.ts";
import { placeCommands } from "./placeCommands.ts";
import { fail, print } from "./reply.ts";
import { settingCommands } from "./settingCommands.ts";

/** The system as a whole: restart, switches of radios, rights, keyboards, and `cmd`, which speaks to its services. */
export const systemCommands: Readonly<Record<string, Command>> = {
  cmd,
  reboot: (_, { system }) => {
    system.parts.reboot();
    return 0;
  },
  svc: ([radio, state], { system }) => {
    const global = system.settings.get("global");
    // With several SIM cards, the one that is used for data (AOSP, TelephonyManager.getSimCount).
    const card = global?.get("multi_sim_data_call") ?? "";
    const name = radio === "wifi" ? "wifi_on" : radio === "data" ? `mobile_data${card}` : undefined;
    if (name !== undefined) global?.set(name, state === "enable" ? "1" : "0");
    return 0;
  },
  appops,
  ime: ([action, method = ""], context) => {
    const { system } = context;
    const text = system.parts.persona.outputs[`ime ${[action, method].join(" ").trim()}`];
    if (text !== undefined) return print(context, text);
    const isKnown = system.packages.find(method.split("/", 1)[0] ?? "") !== undefined;
    if (!isKnown) return fail(context, `Unknown input method ${method} cannot be enabled for user #0`, 1);
    if (action === "set") system.settings.get("secure")?.set("default_input_method", method);
    return print(
      context,
      `Input method ${method}: now ${action === "set" ? "selected" : `${action}d`} for user #0\n`,
    );
  },
};

function appops(args: readonly string[], { system }: CommandContext): number {
  const [action, app, operation, mode] = args;
  if (action === "set" && app === "com.android.shell" && operation === "android:mock_location")
    system.mayMockLocation = mode === "allow";
  return 0;
}

const services: Readonly<Record<string, Command>> = {
  activity: am,
  package: pm,
  input,
  settings: commandOf("settings"),
  window: commandOf("wm"),
  uimode: commandOf("uimode"),
  ...placeCommands,
  statusbar: ([action], context) => {
    const { ui } = context.system;
    if (action === "expand-notifications" || action === "expand-settings") ui.notifications(true);
    else if (action === "collapse") ui.notifications(false);
    else return fail(context, `Unknown command: ${action}`, 255);
    return 0;
  },
  connectivity: ([action, state], { system }) => {
    if (action === "airplane-mode")
      system.settings.get("global")?.set("airplane_mode_on", state === "enable" ? "1" : "0");
    return 0;
  },
  appops,
  overlay: () => 0,
  notification: () => 0,
  device_config: () => 0,
  input_method: (args, context) => systemCommands.ime?.(args, context) ?? 0,
};

function commandOf(name: string): Command {
  return (args, context) => settingCommands[name]?.(args, context) ?? fail(context, `cmd: ${name}`, 20);
}

function cmd(args: readonly string[], context: CommandContext): number | Promise<number> {
  const [name = "", ...rest] = args[0] === "-w" ? args.slice(1) : args;
  const service = services[name];
  if (service) return service(rest, context);
  context.system.unknown.push(`cmd ${args.join(" ")}`);
  return fail(context, `cmd: Can't find service: ${name}`, 20);
}
