import { dirname, join } from "node:path";
import { DeviceError } from "../../errors.ts";
import { findProgram, isProgram } from "../../programs/run.ts";
import { playwright } from "../page/playwright.ts";

export type BrowserName = "chromium" | "firefox" | "webkit";

/** A browser on this machine. `path` is absent for Playwright's own, which Playwright finds itself. */
export type FoundBrowser = {
  browser: BrowserName;
  path?: string;
  source: "settings" | "playwright" | "system";
};

/**
 * Settings first, then Playwright's own build, then the shell of headless Chromium unless a window is wanted, then Chrome,
 * Chromium and Edge. Undefined when there is none.
 */
export function findBrowser(
  settings: { browser?: BrowserName; executable_path?: string | undefined; headless?: boolean } = {},
  environment: NodeJS.ProcessEnv = process.env,
): FoundBrowser | undefined {
  const browser = settings.browser ?? "chromium";
  if (settings.executable_path !== undefined) {
    return isProgram(settings.executable_path)
      ? { browser, path: settings.executable_path, source: "settings" }
      : undefined;
  }
  if (isProgram(playwright()[browser].executablePath())) return { browser, source: "playwright" };
  if (browser !== "chromium") return undefined;
  const shells = settings.headless === true ? headlessShells(environment) : [];
  const path = [...shells, ...systemChromiums(environment)].find(isProgram);
  return path === undefined ? undefined : { browser, path, source: "system" };
}

export const installCommand = (browser: BrowserName) => `npx playwright-core install ${browser}`;

/** BROWSER_NOT_FOUND for a browser by the name under which it is installed. */
export function channelNotFound(browser: BrowserName, channel: string): DeviceError {
  const install = browser === "chromium" ? `npx playwright-core install ${channel}` : installCommand(browser);
  const place =
    browser === "firefox" ? " Say where it is with executable_path, or take Playwright's own." : "";
  const message = `The browser of the channel ${channel} was not found on this machine.${place} Install one with: ${install}`;
  return new DeviceError("BROWSER_NOT_FOUND", message, { install });
}

/** BROWSER_NOT_FOUND with the command that installs one. */
export function browserNotFound(browser: BrowserName, executablePath: string | undefined): DeviceError {
  const install = installCommand(browser);
  const what =
    executablePath === undefined
      ? `No ${browser === "chromium" ? "Chrome, Chromium or Edge" : browser} was found on this machine.`
      : `There is no program at ${executablePath}, which the settings name as the browser.`;
  const system =
    browser === "chromium" ? " (or, on Debian and Ubuntu as root: apt-get install chromium)" : "";
  return new DeviceError("BROWSER_NOT_FOUND", `${what} Install one with: ${install}${system}`, { install });
}

/** They have no window at all, where a whole browser without one draws its toolbar for each new page. */
const headlessShells = (environment: NodeJS.ProcessEnv) =>
  ["chromium-headless-shell", "chrome-headless-shell"].flatMap((name) => {
    const found = findProgram(name, environment);
    // Debian's script stays above the browser, which outlives it when it is killed.
    return found === undefined ? [] : [join(dirname(found), "..", "lib", "chromium", name), found];
  });

function systemChromiums(environment: NodeJS.ProcessEnv): string[] {
  if (process.platform === "darwin") {
    return ["Google Chrome", "Chromium", "Microsoft Edge"].map(
      (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
    );
  }
  if (process.platform === "win32") {
    const roots = [environment.PROGRAMFILES, environment["PROGRAMFILES(X86)"], environment.LOCALAPPDATA];
    const files = ["Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe"];
    return files.flatMap((file) => roots.flatMap((root) => (root === undefined ? [] : [join(root, file)])));
  }
  const names = [
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "microsoft-edge-stable",
    "microsoft-edge",
  ];
  return names.flatMap((name) => findProgram(name, environment) ?? []);
}
