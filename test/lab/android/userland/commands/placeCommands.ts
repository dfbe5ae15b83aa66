import { type Command, type CommandContext, home } from "../system.ts";
import { fail, print, readOptions } from "./reply.ts";

/** Services for where the device is and which language its apps speak, as `cmd` reaches them. */
export const placeCommands: Readonly<Record<string, Command>> = {
  locale: (args, context) => {
    const { system } = context;
    const { options, rest } = readOptions(args, ["--locales", "--user"]);
    const [action, app = ""] = rest;
    if (system.apiLevel < 33) return fail(context, "cmd: Can't find service: locale", 20);
    if (!system.packages.find(app)) return fail(context, `Unknown package: ${app} for user 0`, 255);
    if (action === "get-app-locales")
      return print(context, `Locales for ${app} for user 0 are [${system.locales.get(app) ?? ""}]\n`);
    if (action !== "set-app-locales") return fail(context, `Unknown command: ${action}`, 255);
    const locale = options.get("--locales") ?? "";
    system.locales.set(app, locale);
    system.ui.configure({ locale: locale === "" ? "en-US" : (locale.split(",", 1)[0] ?? locale) });
    return 0;
  },
  location: (args, context) => {
    if (context.system.apiLevel < 31) return fail(context, "No shell command implementation.", 255);
    return args[0] === "providers" ? provider(args.slice(1), context) : fail(context, "Unknown command", 255);
  },
};

/** The device has one place, whichever provider gives it. */
function provider(args: readonly string[], context: CommandContext): number | Promise<number> {
  const { system } = context;
  const { options, rest } = readOptions(args, ["--location", "--accuracy", "--time"]);
  const [action, name = ""] = rest;
  if (!system.mayMockLocation)
    return fail(
      context,
      "java.lang.SecurityException: com.android.shell from uid 2000 not allowed to perform MOCK_LOCATION",
      255,
    );
  if (action === "add-test-provider") {
    system.testProviders.add(name);
    return 0;
  }
  if (!system.testProviders.has(name)) return fail(context, `provider "${name}" is not a test provider`, 255);
  if (action === "set-test-provider-enabled") return 0;
  if (action === "remove-test-provider") {
    system.testProviders.delete(name);
    if (name === "gps") system.location = home;
    return 0;
  }
  if (action !== "set-test-provider-location") return fail(context, `Unknown command: ${action}`, 255);
  const [latitude, longitude] = (options.get("--location") ?? "").split(",").map(Number);
  if (latitude === undefined || longitude === undefined || Number.isNaN(latitude + longitude))
    return fail(context, "Location argument must be in the form LATITUDE,LONGITUDE", 255);
  system.location = { latitude, longitude, altitude: 0 };
  return 0;
}
