import type { InstalledPackage } from "../packages.ts";
import type { Command, CommandContext, System } from "../system.ts";
import { installActions } from "./install.ts";
import { fail, print, readOptions } from "./reply.ts";

type Action = (args: readonly string[], context: CommandContext) => number | Promise<number>;

/** `pm`, which is also `cmd package`. */
export const pm: Command = (args, context) => {
  const [name = "", ...rest] = args;
  const action = actions[name];
  return action ? action(rest, context) : fail(context, `Unknown command: ${name}`, 255);
};

const valued = ["--user", "-a", "-c", "-d", "-p", "-n", "-t", "-f", "--uid"];

const matched = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n";

/** Activities that a launcher starts, of all apps or the one that an intent limits itself to. */
function launchersOf(args: readonly string[], { packages }: System): string[] {
  const [only] = readOptions(args, valued).rest;
  return packages
    .launchable()
    .filter(({ name }) => only === undefined || name === only)
    .flatMap(({ name, launcher = "", moreLaunchers = [] }) =>
      [launcher, ...moreLaunchers].map((activity) => `${name}/${activity}`),
    );
}

const actions: Readonly<Record<string, Action>> = {
  ...installActions,
  list,
  path: (args, context) => {
    const found = context.system.packages.find(readOptions(args, valued).rest[0] ?? "");
    return found ? print(context, `package:${found.path}\n`) : 1;
  },
  clear: (args, context) =>
    withPackage(args, context, "Failed", (found, { ui }) => {
      ui.clearData(found.name);
      return "Success";
    }),
  grant: (args, context) => permission(args, context, true),
  revoke: (args, context) => permission(args, context, false),
  "resolve-activity": (args, context) => {
    const [first, ...others] = launchersOf(args, context.system);
    if (first === undefined) return print(context, "No activity found\n");
    const component = others.length > 0 ? "android/com.android.internal.app.ResolverActivity" : first;
    const text = `${matched}${component}\n`;
    return print(context, args.includes("--brief") ? text : `${text}  name=${component}\n`);
  },
  "query-activities": (args, context) => {
    const found = launchersOf(args, context.system);
    if (found.length === 0) return print(context, "No activities found\n");
    if (args.includes("--components")) return print(context, `${found.join("\n")}\n`);
    const text = found.map((component, index) => {
      const [name = "", activity = ""] = component.split("/");
      const said = args.includes("--brief")
        ? `    ${component}\n`
        : `    ActivityInfo:\n      name=${name}${activity}\n      packageName=${name}\n`;
      return `  Activity #${index}:\n    ${matched}${said}`;
    });
    return print(context, `${found.length} activities found:\n${text.join("")}`);
  },
};

/** Seen on phones with a secure folder: appium-uiautomator2-driver, issue 810. */
const profileIsClosed =
  "\nException occurred while executing 'list':\njava.lang.SecurityException: Shell does not have permission to access user 150";

const lists: Readonly<Record<string, (args: readonly string[], system: System) => string[]>> = {
  packages: listPackages,
  features: (_, { parts }) =>
    ["reqGlEsVersion=0x30002", ...parts.persona.features].map((one) => `feature:${one}`),
  instrumentation: ([only], { packages }) =>
    packages
      .instrumented()
      .filter(
        ({ component, target }) => only === undefined || target === only || component.startsWith(`${only}/`),
      )
      .map(({ component, target }) => `instrumentation:${component} (target=${target})`),
  users: () => ["Users:", "\tUserInfo{0:Owner:c13} running"],
  permissions: () => ["All Permissions:", ""],
  libraries: () => ["library:android.test.runner"],
};

function list([what = "", ...args]: readonly string[], context: CommandContext): number | Promise<number> {
  const lines = lists[what];
  if (!lines) return fail(context, `Error: unknown list type '${what}'`, 255);
  const isOfAll = what === "packages" && !args.includes("--user");
  if (isOfAll && context.system.parts.faults.hasProfile) return fail(context, profileIsClosed, 255);
  return print(
    context,
    lines(args, context.system)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

/** -3 and -s for apps of others and of the system, -f with files, -U with users, --show-versioncode; a word is looked for. */
function listPackages(args: readonly string[], { packages }: System): string[] {
  const { options, rest } = readOptions(args, valued);
  const isThird = args.includes("-3");
  const words = rest.filter((arg) => arg !== "-3");
  return packages
    .all()
    .filter(({ name }) => words.every((word) => name.includes(word)))
    .filter(({ isSystem }) => !(isThird && isSystem) && !(options.has("-s") && !isSystem))
    .map((one) => {
      const file = options.has("-f") || args.includes("-f") ? `${one.path}=` : "";
      const version = options.has("--show-versioncode") ? ` versionCode:${one.versionCode}` : "";
      return `package:${file}${one.name}${version}${options.has("-U") ? ` uid:${one.userId}` : ""}`;
    });
}

async function withPackage(
  args: readonly string[],
  context: CommandContext,
  failure: string,
  act: (found: InstalledPackage, system: System) => string,
): Promise<number> {
  const found = context.system.packages.find(readOptions(args, valued).rest[0] ?? "");
  if (!found) {
    await context.out(`${failure}\n`);
    return 1;
  }
  return print(context, `${act(found, context.system)}\n`);
}

function permission(
  args: readonly string[],
  context: CommandContext,
  granted: boolean,
): number | Promise<number> {
  const [name = "", wanted = ""] = readOptions(args, valued).rest;
  const found = context.system.packages.find(name);
  const refuse = (problem: string) =>
    fail(context, `Exception occurred while executing '${granted ? "grant" : "revoke"}':\n${problem}`, 255);
  if (!found) return refuse(`java.lang.IllegalArgumentException: Unknown package: ${name}`);
  if (found.permissions?.includes(wanted) !== true) {
    return refuse(`java.lang.SecurityException: Package ${name} has not requested permission ${wanted}`);
  }
  context.system.ui.permission(name, wanted, granted);
  return 0;
}
