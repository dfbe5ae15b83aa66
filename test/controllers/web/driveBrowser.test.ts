import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findBrowser, webSettingsSchema } from "@labwright/controllers";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { keyOf } from "#controllers/web/acting/keys.ts";
import { Notices } from "#controllers/web/browser/notices.ts";
import { wholeUrl } from "#controllers/web/page/address.ts";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { failureOf, makeWebDevice, openWebDevice, type WebDevice } from "./webDevice.ts";

const NEVER = new AbortController().signal;
const site = shared(startSite);
let folder: string;
let device: WebDevice | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "labwright-browser-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(async () => {
  await device?.close();
  device = undefined;
});

/** How opening a device with these settings fails. */
async function openingFailure(settings: Record<string, unknown>) {
  device = await makeWebDevice({ settings });
  return failureOf(device.web.open(NEVER));
}

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const systemChromium = () => findBrowser()?.path ?? chromium.executablePath();

describe("finding a browser", () => {
  it("takes the one of the settings, then one of the system", async () => {
    const path = await program("google-chrome", "exit 0");
    expect(findBrowser({ executable_path: path })).toEqual({ browser: "chromium", path, source: "settings" });
    expect(findBrowser({ executable_path: join(folder, "absent") })).toBeUndefined();
    expect(findBrowser({}, { PATH: folder })?.source).toMatch(/playwright|system/);
  });

  it("takes the shell of headless Chromium before Chrome, unless a window is wanted", async () => {
    for (const name of ["bin", "lib/chromium"]) await mkdir(join(folder, name), { recursive: true });
    const script = await program("bin/chromium-headless-shell", "exit 0");
    const chrome = await program("bin/google-chrome-stable", "exit 0");
    const hasOwn = findBrowser({})?.source === "playwright";
    const found = (headless: boolean) => findBrowser({ headless }, { PATH: join(folder, "bin") })?.path;
    expect([found(true), found(false)]).toEqual(hasOwn ? [undefined, undefined] : [script, chrome]);
    // Debian's is a script that stays above the program.
    const shell = await program("lib/chromium/chromium-headless-shell", "exit 0");
    expect(found(true)).toBe(hasOwn ? undefined : shell);
  });

  it("says BROWSER_NOT_FOUND with the command that installs one", async () => {
    const failure = await openingFailure({ executable_path: join(folder, "absent") });
    expect(failure.code).toBe("BROWSER_NOT_FOUND");
    expect(failure.message).toContain("install chromium");
    expect((await openingFailure({ channel: "chrome-canary" })).code).toBe("BROWSER_NOT_FOUND");
  });

  it("says BROWSER_UNUSABLE with the browser's own reason", async () => {
    const broken = await program(
      "broken",
      "echo 'libmissing.so: cannot open shared object file' >&2; exit 127",
    );
    const failure = await openingFailure({ executable_path: broken });
    expect(failure.code).toBe("BROWSER_UNUSABLE");
    expect(failure.message).toContain("libmissing.so");
  });

  it("goes without Chromium's sandbox only where the settings say so, and names the setting", async () => {
    vi.stubEnv("LABWRIGHT_BROWSER_SANDBOX", undefined);
    const without =
      'case "$*" in *--no-sandbox*) echo started without >&2;; *) echo No usable sandbox! >&2;; esac';
    const executable_path = await program("unsandboxed", `${without}; exit 1`);
    const refused = await openingFailure({ executable_path });
    const allowed = await openingFailure({ executable_path, sandbox: false });
    vi.unstubAllEnvs();
    expect(refused).toMatchObject({ code: "BROWSER_UNUSABLE", details: { setting: "sandbox" } });
    expect(refused.message).toContain("{web: {sandbox: false}}");
    expect(allowed.message).toContain("started without");
  });

  it("says so of a Firefox that Playwright cannot drive", async () => {
    const firefox = await program("firefox", "exit 1");
    const failure = await openingFailure({ browser: "firefox", executable_path: firefox });
    expect(failure.code).toBe("BROWSER_UNUSABLE");
    expect(failure.message).toContain("install firefox");
  });

  it("says so of a window without a display", async () => {
    vi.stubEnv("DISPLAY", "");
    vi.stubEnv("WAYLAND_DISPLAY", "");
    const failure = await openingFailure({ headless: false });
    vi.unstubAllEnvs();
    expect(failure.code).toBe("BROWSER_UNUSABLE");
    expect(failure.message).toContain("headless: true");
  });

  it("says so of an address where no browser answers, without the address's token", async () => {
    const failure = await openingFailure({ connect: "ws://127.0.0.1:9/?token=s3cret" });
    expect(failure.code).toBe("BROWSER_UNUSABLE");
    expect(JSON.stringify([failure.message, failure.details])).not.toContain("s3cret");
  });
});

describe("browsers elsewhere", () => {
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

  it("drives a Playwright server by its address", async () => {
    const server = await chromium.launchServer({ executablePath: systemChromium(), args: root });
    try {
      device = await openWebDevice({ settings: { connect: server.wsEndpoint() } });
      await device.run("navigate_to_url", { url: `${site.url}/` });
      await device.run("click_element", { selector: "Second page" });
      expect(await device.js("return document.title")).toBe("Second");
    } finally {
      await device?.close();
      await server.close();
    }
  });

  it("drives a Chromium by its DevTools address, in a context of its own, under the policy", async () => {
    const child = spawn(systemChromium(), [
      ...["--headless", "--remote-debugging-port=0", `--user-data-dir=${join(folder, "profile")}`],
      ...["--disable-background-networking", ...root, "about:blank"],
    ]);
    try {
      const settings = { cdp: await devtoolsAddress(child.stderr) };
      device = await openWebDevice({ settings, denyUrl: (url) => url.endsWith("/second") });
      await device.run("navigate_to_url", { url: `${site.url}/form` });
      expect((await device.run("get_page_info")).data?.tabs).toHaveLength(1);
      expect(device.web.facts?.().note).toContain("does not go through Labwright's proxy");
      const direct = device.run("navigate_to_url", { url: `${site.url}/second` });
      expect((await failureOf(direct)).code).toBe("URL_DENIED");
      await device.run("navigate_to_url", { url: `${site.url}/` });
      const clicked = device.run("click_element", { selector: "Second page" });
      expect((await failureOf(clicked)).code).toBe("URL_DENIED");
      const redirected = device.run("navigate_to_url", { url: `${site.url}/redirect?to=/second` });
      expect((await failureOf(redirected)).code).toBe("URL_DENIED");
      expect(await device.js("return document.title")).not.toBe("Second");
    } finally {
      await device?.close();
      child.kill("SIGKILL");
    }
  });

  async function devtoolsAddress(output: NodeJS.ReadableStream): Promise<string> {
    for await (const line of createInterface({ input: output })) {
      const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (address !== undefined) return address;
    }
    throw new Error("the browser gave no address");
  }
});

describe("settings", () => {
  it("have defaults and refuse what they do not know", () => {
    expect(webSettingsSchema.parse({})).toEqual({
      browser: "chromium",
      headless: true,
      sandbox: true,
      viewport: { width: 1280, height: 720 },
      ignore_https_errors: false,
    });
    expect(webSettingsSchema.safeParse({ headles: true }).success).toBe(false);
    expect(webSettingsSchema.safeParse({ connect: "ws://a", cdp: "http://b" }).success).toBe(false);
    expect(webSettingsSchema.safeParse({ browser: "firefox", cdp: "http://b" }).success).toBe(false);
  });

  it("reach the page", async () => {
    device = await openWebDevice({
      settings: {
        viewport: { width: 640, height: 480 },
        locale: "de-DE",
        timezone: "Asia/Tokyo",
        user_agent: "Tester",
        proxy: { server: "http://proxy.test:3128" },
      },
    });
    expect(device.web.facts?.().note).toContain("proxy.test:3128, which resolves host names");
    const seen =
      "return [innerWidth, innerHeight, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent]";
    expect(await device.js(seen)).toEqual([640, 480, "de-DE", "Asia/Tokyo", "Tester"]);
  });
});

describe("addresses as a person writes them", () => {
  it.each([
    ["example.org", "https://example.org/"],
    ["localhost:3000/a", "http://localhost:3000/a"],
    ["127.0.0.1", "http://127.0.0.1/"],
    ["[::1]:80/x", "http://[::1]/x"],
    ["/b?c", "http://site/b?c"],
    ["#d", "http://site/a#d"],
    ["about:blank", "about:blank"],
    ["javascript:alert(1)", "javascript:alert(1)"],
    ["file:///etc/passwd", "file:///etc/passwd"],
  ])("%s is %s", (given, whole) => {
    expect(wholeUrl(given, "http://site/a")).toBe(whole);
  });
});

describe("keys", () => {
  it.each([
    ["UP", "ArrowUp"],
    ["OK", "Enter"],
    ["ctrl+shift+a", "Control+Shift+a"],
    ["Control++", "Control++"],
    ["+", "+"],
    ["page_up", "PageUp"],
    ["ä", "ä"],
    ["KeyA", "KeyA"],
    ["BACK", "BACK"],
  ])("%s is %s", (name, key) => {
    expect(keyOf(name)).toBe(key);
  });

  it("called like a member of every object is none", () => {
    for (const name of ["constructor", "valueOf"])
      expect(() => keyOf(name)).toThrow(/no such key|not a key|key/i);
  });
});

describe("what is kept of notices", () => {
  it("is bounded, and the same notice twice in a row is reported once", () => {
    const notices = new Notices(() => false);
    notices.add("tab", "one");
    notices.add("tab", "one");
    expect(notices.after(0)).toHaveLength(1);
    for (let n = 0; n < 500; n++) notices.add("tab", `tab ${n}`);
    const kept = notices.after(0);
    expect(kept).toHaveLength(100);
    expect(kept.at(-1)?.text).toBe("tab 499");
    expect(notices.after(kept.at(-2)?.seq ?? 0).map(({ text }) => text)).toEqual(["tab 499"]);
    notices.add("tab", "tab 499");
    expect(notices.after(kept.at(-1)?.seq ?? 0).map(({ text }) => text)).toEqual(["tab 499"]);
  });
});
