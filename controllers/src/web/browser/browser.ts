import type { Browser, BrowserContextOptions, LaunchOptions } from "playwright-core";
import { DeviceError } from "../../errors.ts";
import type { GuardingProxy } from "../../proxy/guardingProxy.ts";
import { endsWithin, untilAborted } from "../../waiting/deadlines.ts";
import { firstLines } from "../page/failures.ts";
import { registerEngine } from "../page/inpage.ts";
import { playwright } from "../page/playwright.ts";
import { boundPipes } from "./boundedPipe.ts";
import { browserNotFound, channelNotFound, findBrowser } from "./findBrowser.ts";
import type { StorageState } from "./session.ts";
import { isOverBidi, type WebSettings } from "./settings.ts";

const START_DEADLINE_MS = 30_000;
/** A browser that takes longer to close is killed. */
const CLOSE_DEADLINE_MS = 3_000;

export type OpenedBrowser = {
  browser: Browser;
  /** Closes it, or kills it when it does not close; never fails. */
  close(): Promise<void>;
};

/** Without these Chromium asks outside hosts at every start. */
const quietFlags = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  "--no-first-run",
  // Without it the headless shell writes what pages log to stderr, where a line over 512 MB throws in Playwright and ends us.
  ...["--enable-logging=stderr", "--log-level=2"],
  // WebRTC goes through the proxy too. The two names are those of the headless shell and of a whole browser.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/**
 * Starts the browser of the settings, or connects to it. Throws BROWSER_NOT_FOUND with the command that installs one,
 * BROWSER_UNUSABLE with the browser's own reason. A started browser hangs on a pipe of this process, so it ends with
 * it, also on kill -9.
 */
export async function openBrowser(
  settings: WebSettings,
  proxy: GuardingProxy | undefined,
  signal: AbortSignal,
): Promise<OpenedBrowser> {
  signal.throwIfAborted();
  const starting = start(settings, proxy);
  try {
    return await untilAborted(starting, signal);
  } catch (error) {
    // A start that was given up may still succeed, and that browser must not stay.
    starting.then((opened) => opened.close()).catch(() => undefined);
    throw error;
  }
}

async function start(settings: WebSettings, proxy: GuardingProxy | undefined): Promise<OpenedBrowser> {
  try {
    await registerEngine();
    if (settings.connect !== undefined) {
      return opened(
        await playwright()[settings.browser].connect(settings.connect, { timeout: START_DEADLINE_MS }),
      );
    }
    if (settings.cdp !== undefined) {
      return opened(await playwright().chromium.connectOverCDP(settings.cdp, { timeout: START_DEADLINE_MS }));
    }
    const browser = await launch(settings, proxy);
    return opened(browser, settings.browser === "chromium" ? await processIdOf(browser) : undefined);
  } catch (error) {
    throw unusable(settings, error);
  }
}

function opened(browser: Browser, pid?: number): OpenedBrowser {
  return {
    browser,
    async close() {
      // A browser that is gone already has nothing to close.
      const closing = browser.close().catch(() => undefined);
      if (await endsWithin(closing, CLOSE_DEADLINE_MS)) return;
      if (pid !== undefined) kill(pid);
      await endsWithin(closing, CLOSE_DEADLINE_MS);
    },
  };
}

/** Asked while the browser still answers: it is killed by this id when it does not any more. */
async function processIdOf(browser: Browser): Promise<number | undefined> {
  const ask = async () => {
    const cdp = await browser.newBrowserCDPSession();
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    await cdp.detach();
    return processInfo.find(({ type }) => type === "browser")?.id;
  };
  // A browser that does not say it is still one to drive; it fails at its first tab if it must.
  return await untilAborted(ask(), AbortSignal.timeout(CLOSE_DEADLINE_MS)).catch(() => undefined);
}

/** With the processes it started: Playwright makes each browser the leader of a group. */
function kill(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // No such group or process: it has ended, or a wrapper leads the group.
    }
  }
}

async function launch(settings: WebSettings, proxy: GuardingProxy | undefined): Promise<Browser> {
  const isFound = settings.channel === undefined || settings.executable_path !== undefined;
  const found = isFound ? findBrowser(settings) : undefined;
  if (found === undefined && isFound) {
    throw browserNotFound(settings.browser, settings.executable_path);
  }
  const options: LaunchOptions = {
    headless: settings.headless,
    timeout: START_DEADLINE_MS,
    // The daemon closes its devices in its own order; Playwright's handlers would exit the process first.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    ...(settings.channel === undefined ? {} : { channel: settings.channel }),
    ...(settings.display && { env: { ...process.env, ...settings.display } }),
    ...(found?.path === undefined ? {} : { executablePath: found.path }),
    ...(settings.browser === "chromium" ? { args: quietFlags, chromiumSandbox: settings.sandbox } : {}),
    ...(proxy && proxyOptions(settings, proxy)),
  };
  boundPipes();
  const launchWith = (chosen: LaunchOptions) => playwright()[settings.browser].launch(chosen);
  return options.chromiumSandbox === true ? launchSandboxed(launchWith, options) : launchWith(options);
}

async function launchSandboxed(
  launchWith: (options: LaunchOptions) => Promise<Browser>,
  options: LaunchOptions,
): Promise<Browser> {
  const without = { ...options, chromiumSandbox: false };
  // Chromium always refuses its sandbox to root: that try would only take time.
  if (isSandboxOptional() && process.getuid?.() === 0) return launchWith(without);
  try {
    return await launchWith(options);
  } catch (error) {
    if (!hasNoSandbox(String(error))) throw error;
    if (isSandboxOptional()) return launchWith(without);
    throw withoutSandbox(error);
  }
}

/** The demo and the tests set it, which open pages of their own: Chromium then starts also where it has no sandbox. */
export const isSandboxOptional = () => process.env.LABWRIGHT_BROWSER_SANDBOX === "optional";

/** Containers and hardened kernels forbid the sandbox to users other than root, too. */
const hasNoSandbox = (log: string) =>
  /no usable sandbox|suid sandbox|sandbox_host|without --no-sandbox/i.test(log);

function withoutSandbox(cause: unknown): DeviceError {
  const reason =
    process.getuid?.() === 0
      ? "it does not sandbox pages for root"
      : "this system does not allow its sandbox";
  const message = `Chromium was not started: ${reason}. Run Labwright as a user that has one. If you trust every page that is opened, set controllers: {web: {sandbox: false}} for the device in labwright.yaml.`;
  return new DeviceError("BROWSER_UNUSABLE", message, { setting: "sandbox", reason }, { cause });
}

/**
 * Chromium is given the password by `admit`, without Playwright. Playwright's options leave out parts of an installed Firefox, and
 * this machine's own addresses in any.
 */
function proxyOptions(
  { browser }: WebSettings,
  { address, username, password }: GuardingProxy,
): LaunchOptions {
  if (browser === "chromium") return { proxy: { server: address } };
  const { hostname, port } = new URL(address);
  const of = (kind: string) => ({
    [`network.proxy.${kind}`]: hostname,
    [`network.proxy.${kind}_port`]: Number(port),
  });
  return {
    proxy: { server: address, username, password },
    ...(browser === "firefox" && {
      firefoxUserPrefs: {
        "network.proxy.type": 1,
        ...of("http"),
        ...of("ssl"),
        "network.proxy.no_proxies_on": "",
        "network.proxy.allow_hijacking_localhost": true,
        "network.proxy.failover_direct": false,
        "network.dns.disablePrefetch": true,
        "media.peerconnection.ice.proxy_only": true,
      },
    }),
  };
}

export function contextOptions(
  { viewport, ignore_https_errors, locale, timezone, user_agent }: WebSettings,
  storageState: StorageState | undefined,
): BrowserContextOptions {
  return {
    viewport,
    ignoreHTTPSErrors: ignore_https_errors,
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezoneId: timezone }),
    ...(user_agent !== undefined && { userAgent: user_agent }),
    ...(storageState !== undefined && { storageState }),
  };
}

/** The error of a browser that could not be started, or that started and then could not open a page. */
export function unusable(settings: WebSettings, error: unknown): DeviceError {
  if (error instanceof DeviceError) return error;
  const address = settings.connect ?? settings.cdp;
  const log = String(error);
  const reason = browserReason(log) ?? firstLines(error);
  if (/Executable doesn't exist|distribution '.*' is not found|Cannot find Firefox installation/.test(log)) {
    const { browser, channel, executable_path } = settings;
    if (channel !== undefined && executable_path === undefined) return channelNotFound(browser, channel);
    return browserNotFound(browser, executable_path);
  }
  if (address !== undefined) {
    const message = `The browser at ${withoutQuery(address)} does not answer: ${reason}. Check that it runs and that the address is right.`;
    return new DeviceError("BROWSER_UNUSABLE", message, {}, { cause: error });
  }
  return new DeviceError(
    "BROWSER_UNUSABLE",
    unusableMessage(settings, reason, log),
    { reason },
    { cause: error },
  );
}

/** What the browser itself wrote; Playwright's own line often says only that it closed. */
function browserReason(log: string): string | undefined {
  const lines = [...log.matchAll(/\[err\] (.+)/g)].map((match) => (match[1] ?? "").trim());
  return (lines.find((line) => /error|fatal|cannot|missing|failed/i.test(line)) ?? lines[0])?.slice(0, 300);
}

function unusableMessage(settings: WebSettings, reason: string, log: string): string {
  if (/missing x server|\$DISPLAY|cannot open display/i.test(log)) {
    return `The ${settings.browser} browser cannot open a window: ${displayNeed(settings)}`;
  }
  const own = `npx playwright-core install ${settings.browser}`;
  const next =
    settings.browser === "chromium"
      ? "Try another browser with executable_path or channel."
      : isOverBidi(settings)
        ? `Take a newer Firefox, or Playwright's own: ${own}`
        : `Playwright drives only its own build of ${settings.browser}: ${own}`;
  return `The ${settings.browser} browser was found but cannot be used: ${reason}. ${next}`;
}

const displayNeed = ({ display }: WebSettings) =>
  display
    ? `the display ${display.DISPLAY ?? display.WAYLAND_DISPLAY ?? ""} does not answer. Check that it runs and that this user may use it.`
    : "there is no display where the daemon was started. Set headless: true, or run labwright stop, and start it again in a session with a display, or under xvfb-run.";

/** Tokens of hosted browsers are in the query. */
function withoutQuery(address: string): string {
  return address.replace(/\?.*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
