// The program of a child process that drives one device by Appium's UiAutomator2 driver: one session, asked over Node's IPC.
// It ends with its channel, and leaves nothing on the device or in the adb server.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { AndroidUiautomator2Driver } from "appium-uiautomator2-driver";

const packages = ["io.appium.uiautomator2.server", "io.appium.uiautomator2.server.test"];
/** Whoever started us kills us after 3 s when it ended itself. */
const closeMs = 1_500;
const forceMs = 1_000;
/** A page that runs a script or shows a dialog of its own does not answer. */
const pageMs = 5_000;
const mostPages = 8;

const ofDriver = createRequire(import.meta.resolve("appium-uiautomator2-driver"));
const { version } = ofDriver("appium-uiautomator2-server/package.json");
const settingsApp = dirname(ofDriver.resolve("io.appium.settings/package.json"));

const chromedriverEntry = join(
  dirname(ofDriver.resolve("appium-chromedriver/package.json")),
  "build/lib/index.js",
);
/** A page source or picture; the server on the device and chromedriver answer no more, and lead to no other address. */
const mostAnswerBytes = 64_000_000;
for (const user of [import.meta.resolve("appium-uiautomator2-driver"), pathToFileURL(chromedriverEntry)]) {
  const ofBase = createRequire(createRequire(user).resolve("@appium/base-driver"));
  Object.assign(ofBase("axios").defaults, { maxContentLength: mostAnswerBytes, maxRedirects: 0 });
}

const { Chromedriver } = await import(pathToFileURL(chromedriverEntry).href);
const { start } = Chromedriver.prototype;
// Else reading a page would dismiss the dialog that it shows.
Chromedriver.prototype.start = function (capabilities, ...rest) {
  return start.call(this, { ...capabilities, unhandledPromptBehavior: "ignore" }, ...rest);
};

const driver = new AndroidUiautomator2Driver();
// Its log holds what is typed.
driver.log.level = "silent";
let isClosed = false;
let isLeaving = false;

const methods = {
  async open(capabilities, settings) {
    const all = Object.entries(capabilities).map(([name, value]) => [`appium:${name}`, value]);
    const alwaysMatch = { platformName: "Android", ...Object.fromEntries(all) };
    await driver.createSession(null, null, { alwaysMatch, firstMatch: [{}] });
    await driver.updateSettings(settings);
  },
  /** A request to the server on the device, below its session. */
  ask: (method, path, body) => driver.requireUiautomator2().jwproxy.command(path, method, body),
  /** Since Android 10 only a keyboard may read it, and the settings app has one. */
  async clipboard() {
    const needsApp = (await driver.adb.getApiLevel()) >= 29;
    if (needsApp && !(await driver.adb.isAppInstalled("io.appium.settings")))
      await driver.adb.install(join(settingsApp, "apks", "settings_apk-debug.apk"), {
        grantPermissions: true,
      });
    return driver.getClipboard();
  },
  contexts: () => driver.getContexts(),
  /**
   * What a script gives in each page of a context: `snapshots`, or the `contexts` there are where it is none, or the `problem`. The
   * session stays in its native context.
   */
  async pages(context, script) {
    try {
      const known = driver.sessionChromedrivers[context];
      const found = known && (await snapshotsBy(known, script).catch(() => forget(context)));
      if (found) return { snapshots: found };
      const contexts = await driver.getContexts();
      if (!contexts.includes(context)) return { contexts };
      await driver.startChromedriverProxy(context, []);
      driver.suspendChromedriverProxy();
      return { snapshots: await snapshotsBy(driver.sessionChromedrivers[context], script) };
    } catch (error) {
      forget(context);
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  },
  async close() {
    await driver.deleteSession();
    isClosed = true;
  },
};

async function snapshotsBy({ jwproxy }, script) {
  const late = delay(pageMs, undefined, { ref: false }).then(() => {
    throw new Error(`The page did not answer within ${pageMs} ms.`);
  });
  late.catch(() => undefined);
  const ask = (path, method, body) => Promise.race([jwproxy.command(path, method, body), late]);
  const handles = await ask("/window/handles", "GET");
  const snapshots = [];
  for (const handle of handles.slice(0, mostPages)) {
    if (handles.length > 1) await ask("/window", "POST", { handle });
    snapshots.push(await ask("/execute/sync", "POST", { script, args: [] }));
  }
  return snapshots;
}

/** The page of it is gone, or does not answer: the next snapshot starts another chromedriver. */
function forget(context) {
  const old = driver.sessionChromedrivers[context];
  delete driver.sessionChromedrivers[context];
  old?.removeAllListeners(Chromedriver.EVENT_CHANGED);
  old?.stop().catch(() => undefined);
}

async function answer({ id, method, args }) {
  try {
    const value = await methods[method](...args);
    send({ id, value });
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

function send(message) {
  if (process.connected) process.send(message, () => undefined);
}

async function leave() {
  if (isLeaving) return;
  isLeaving = true;
  if (!isClosed) {
    await Promise.race([driver.deleteSession().catch(() => undefined), delay(closeMs)]);
    await Promise.race([removeTraces().catch(() => undefined), delay(forceMs)]);
  }
  // With what the driver started: a program that it leads is a group of its own.
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit();
  }
}

/** For a session that could not be closed in time, or not at all. */
async function removeTraces() {
  const { adb, opts } = driver;
  if (!adb) return;
  const ports = [opts.systemPort, opts.mjpegServerPort].filter(Boolean);
  const stopping = packages.map((name) => adb.forceStop(name));
  const forwards = (await adb.getForwardList()).filter((line) => line.includes("webview_devtools"));
  ports.push(...forwards.map((line) => /tcp:(\d+)/.exec(line)?.[1]).filter(Boolean));
  await Promise.allSettled([...stopping, ...ports.map((port) => adb.removePortForward(port))]);
}

process.on("message", (message) => void answer(message));
process.once("disconnect", () => void leave());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => void leave());
// A promise that the driver forgot must not cost the session.
process.on("unhandledRejection", () => undefined);
// Its packages are loaded; what the device has to have installed.
send({ id: 0, value: { serverVersion: version } });
