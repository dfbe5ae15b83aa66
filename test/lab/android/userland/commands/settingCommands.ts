import { type SettingNamespace, settingNamespaces } from "../../personas/persona.ts";
import type { Command, CommandContext, System } from "../system.ts";
import { fail, print, readOptions } from "./reply.ts";

/** Properties, settings, and what the window manager and the like are set to. */
export const settingCommands: Readonly<Record<string, Command>> = {
  getprop: ([name, fallback = ""], context) => {
    const { properties } = context.system;
    if (name !== undefined) return print(context, `${properties.get(name) ?? fallback}\n`);
    const lines = [...properties].toSorted().map(([key, value]) => `[${key}]: [${value}]\n`);
    return print(context, lines.join(""));
  },
  setprop: ([name = "", value = ""], context) => {
    if (/^ro\./.test(name)) return fail(context, `Failed to set property '${name}' to '${value}'.`);
    context.system.properties.set(name, value);
    return 0;
  },
  settings,
  wm,
  uimode: ([kind, value], context) => {
    if (kind !== "night") return fail(context, `Unknown command: ${kind}`, 255);
    const secure = context.system.settings.get("secure");
    if (value === "yes" || value === "no") {
      secure?.set("ui_night_mode", value === "yes" ? "2" : "1");
      context.system.ui.configure({ night: value === "yes" });
    }
    return print(context, `Night mode: ${secure?.get("ui_night_mode") === "2" ? "yes" : "no"}\n`);
  },
};

const isNamespace = (name: string): name is SettingNamespace => settingNamespaces.some((one) => one === name);

function settings(args: readonly string[], context: CommandContext): number | Promise<number> {
  const { rest } = readOptions(args, ["--user"]);
  const [action, namespace = "", name = "", value = ""] = rest;
  const values = isNamespace(namespace) ? context.system.settings.get(namespace) : undefined;
  if (!isNamespace(namespace) || !values) return fail(context, `Invalid namespace '${namespace}'`, 255);
  if (action === "get") return print(context, `${values.get(name) ?? "null"}\n`);
  if (action === "list") {
    return print(
      context,
      [...values]
        .toSorted()
        .map(([key, one]) => `${key}=${one}\n`)
        .join(""),
    );
  }
  if (action === "delete") return print(context, `Deleted ${Number(values.delete(name))} rows\n`);
  if (action !== "put") return fail(context, `Unknown command: ${action}`, 255);
  putSetting(context.system, namespace, name, value);
  return 0;
}

/** Some settings change the screen at once. */
function putSetting(system: System, namespace: SettingNamespace, name: string, value: string): void {
  const { ui } = system;
  const values = system.settings.get(namespace);
  values?.set(name, value);
  if (name === "user_rotation" || name === "accelerometer_rotation") rotate(system);
  if (name === "font_scale") ui.configure({ fontScale: Number(value) });
  if (name === "ui_night_mode") ui.configure({ night: value === "2" });
  if (name === "system_locales") ui.configure({ locale: value.split(",", 1)[0] ?? value });
}

const rotations = [0, 90, 180, 270] as const;

/** The user's rotation counts while the sensor's does not; the device lies upright. */
function rotate({ settings: all, ui }: System): void {
  const values = all.get("system");
  const isLocked = values?.get("accelerometer_rotation") === "0";
  ui.rotate(rotations[isLocked ? Number(values?.get("user_rotation")) : 0] ?? 0);
}

function wm(args: readonly string[], context: CommandContext): number | Promise<number> {
  const { screen } = context.system.parts.persona;
  const [action, mode, rotation] = args;
  if (action === "size") return print(context, `Physical size: ${screen.width}x${screen.height}\n`);
  if (action === "density") return print(context, `Physical density: ${screen.density}\n`);
  if (action === "dismiss-keyguard") return 0;
  if (action !== "user-rotation" && action !== "set-user-rotation") {
    return fail(context, `Unknown command: ${action}`, 255);
  }
  const values = context.system.settings.get("system");
  if (mode === undefined) {
    const isLocked = values?.get("accelerometer_rotation") === "0";
    return print(context, isLocked ? `lock ${values?.get("user_rotation")}\n` : "free\n");
  }
  values?.set("accelerometer_rotation", mode === "lock" ? "0" : "1");
  if (rotation !== undefined) values?.set("user_rotation", rotation);
  rotate(context.system);
  return 0;
}
