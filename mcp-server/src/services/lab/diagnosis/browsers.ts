import { spawn } from "node:child_process";
import { findBrowser, webSettingsSchema } from "@labwright/controllers";
import type { Config } from "../../../config.ts";
import type { Finding } from "./finding.ts";

/** The browser of each web device of the configuration, once for each that differs; it is asked for its version. */
export async function checkBrowsers(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const wanted = new Map<string, { names: string[]; settings: ReturnType<typeof webSettingsSchema.parse> }>();
  for (const device of config.devices.filter(({ kinds }) => kinds.includes("web"))) {
    const settings = webSettingsSchema.parse(device.controllers.web ?? {});
    const { browser, channel, executable_path, connect, cdp } = settings;
    const key = JSON.stringify([browser, channel, executable_path, connect, cdp]);
    const entry = wanted.get(key) ?? { names: [], settings };
    entry.names.push(device.name);
    wanted.set(key, entry);
  }
  return Promise.all(
    [...wanted.values()].map(({ names, settings }) => checkBrowser(names, settings, signal)),
  );
}

async function checkBrowser(
  names: readonly string[],
  settings: ReturnType<typeof webSettingsSchema.parse>,
  signal: AbortSignal,
): Promise<Finding> {
  const what = `${settings.channel ?? settings.browser} for ${names.slice(0, 5).join(", ")}${names.length > 5 ? " …" : ""}`;
  const remote = settings.connect ?? settings.cdp;
  if (remote !== undefined) {
    return { what, status: "ok", detail: `connects to ${hostOf(remote)}; not tried` };
  }
  if (settings.channel !== undefined) {
    return { what, status: "ok", detail: `Playwright looks for the channel ${settings.channel}; not tried` };
  }
  const found = findBrowser(settings);
  if (found === undefined) {
    const install = `npx playwright-core install ${settings.browser}`;
    const detail =
      settings.executable_path === undefined
        ? "not found"
        : `there is no program at ${settings.executable_path}`;
    return {
      what,
      status: "missing",
      detail,
      fix: settings.browser === "chromium" ? `${install}, or as root: apt-get install -y chromium` : install,
    };
  }
  if (found.path === undefined) return { what, status: "ok", detail: "Playwright's own" };
  const version = await versionOf(found.path, signal);
  if (version !== undefined) return { what, status: "ok", detail: `${version} (${found.path})` };
  return {
    what,
    status: "missing",
    detail: `${found.path} does not run`,
    fix: `Run ${found.path} --version to see why, or: npx playwright-core install ${settings.browser}`,
  };
}

/** Without what may be a token in its path or query. */
const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).host : "another machine");

/** Undefined when the program fails. On Windows asking would open a window, so there it is only named. */
function versionOf(path: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.platform === "win32") return Promise.resolve("found");
  return new Promise((resolve) => {
    const child = spawn(path, ["--version"], {
      stdio: ["ignore", "pipe", "ignore"],
      signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
      killSignal: "SIGKILL",
    });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text = (text + String(chunk)).slice(0, 200);
    });
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code === 0 ? text.trim() : undefined));
  });
}
