import { mkdtempSync, symlinkSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { installedAddons } from "../../fixtures/addons.ts";
import { type DaemonProcess, ownDaemons } from "../../fixtures/daemonProcess.ts";
import { closeServer, listenOnLoopback } from "../../fixtures/loopback.ts";
import { type KodiLab, startKodi } from "../../lab/tv/kodi/index.ts";

/** Of walks through the tree; more of them, each from each, in `npm run accept -- --step 15`. */
const walks = Number(process.env.KODI_WALKS ?? 10);
vi.setConfig({ testTimeout: 60_000 + 30_000 * walks, hookTimeout: 90_000 });

/** What the judge calls the window of each node. */
const windows = {
  Home: "Home",
  "TV shows": "Videos",
  Settings: "Settings",
  Playing: "Fullscreen video",
} as const;
type Node = keyof typeof windows;

const kodi = `
name: kodi
models: [stb]
nodes:
  Home: [image_visible: { reference: settings }]
  TV shows: check text "Add videos"
  Settings: [check text "File manager", check text "Profiles"]
  Channels: [check text "All channels", check text "Gamma Films"]
  Playing: [check text "Alpha News", check text "All channels" is not shown]
edges:
  Home -> TV shows: { steps: click "TV shows", back: press HOME }
  Home -> Settings: { steps: click "settings", back: press HOME }
  Home -> Channels: { steps: click "TV", back: press HOME }
  Channels -> Playing: { steps: click "Alpha News", back: press STOP }

tests:
  - name: Open a section
    steps:
      - go to Settings
      - check text "Settings"
`;
const simulated = `
name: box
models: [simulated]
nodes:
  Start: { type: entry }
  Home: check text "Welcome home"
  Settings: check text "Device settings"
edges:
  Start -> Home: press HOME
  Home -> Settings: { steps: click "Settings", back: press BACK }
`;
const web = (url: string) => `
name: page
app: { url: "${url}" }
nodes:
  Home: check text "Welcome"
  Settings: check the url has "/settings"
edges:
  Home -> Settings: { steps: click "Settings", back: go back }
`;

/** Where the icons of Kodi's home screen are, cut so closely that none of the highlight behind them is in the picture. */
const icons = {
  power: { x: 32, y: 91, width: 32, height: 32 },
  settings: { x: 139, y: 91, width: 32, height: 32 },
};

const daemons = ownDaemons("kodi");

describe("Kodi by its picture and keys, through the tools", () => {
  let lab: KodiLab;
  let daemon: DaemonProcess;
  let session: string;
  const call = async (tool: string, args: Record<string, unknown> = {}) => {
    const answer = await daemon.call(tool, args);
    expect(answer.error, tool).toBeUndefined();
    return answer.result;
  };
  const where = async () => (await lab.oracle.gui()).window;
  const control = async (device: string) =>
    z.string().parse((await call("take_control", { device_id: device })).session_id);

  beforeAll(async () => {
    lab = await startKodi();
  });
  afterAll(async () => {
    await lab?.stop();
  });

  beforeEach(async () => {
    const dataDir = mkdtempSync(join(daemons.root, "data-"));
    symlinkSync(installedAddons, join(dataDir, "addons"));
    const controllers = {
      ...{ av: { x11: lab.display }, x11: { display: lab.display } },
      ...{ text: {}, image: {}, picture_ui: { references: Object.keys(icons) } },
    };
    const devices = [
      { name: "box", model: "stb", controllers },
      { name: "made-up", model: "simulated" },
      { name: "browser", model: "web" },
    ];
    daemon = await daemons.start({
      dataDir,
      config: JSON.stringify({ server: { name: "lab" }, devices }),
    });
    session = await control("lab/box");
    await call("import_userinterface", { yaml: kodi });
    const home = { command: "press_key", params: { key: "HOME" } };
    await call("execute_device_action", { session_id: session, actions: [home] });
    await expect.poll(where, { timeout: 10_000 }).toBe("Home");
    await call("execute_device_action", {
      ...{ session_id: session, actions: [{ command: "wait_for", params: { selector: "Games" } }] },
    });
    for (const [name, area] of Object.entries(icons))
      await call("save_reference", {
        ...{ userinterface_name: "kodi", session_id: session, name, kind: "image", area },
      });
  });
  it("goes to each screen from each, and is where the judge says", async () => {
    const arrived: { node: Node; window: string }[] = [];
    for (const node of nodesToVisit(walks)) {
      const walk = await call("navigate_to_node", {
        ...{ session_id: session, userinterface_name: "kodi", node, timeout_ms: 60_000 },
      });
      expect(walk).toMatchObject({ status: "passed", verified: true, at: node });
      arrived.push({ node, window: await where() });
    }
    expect(arrived).toHaveLength(walks);
    expect(arrived).toEqual(arrived.map(({ node }) => ({ node, window: windows[node] })));
  });

  it("runs one test case unchanged on Kodi, on a page and on the simulated box", async () => {
    const site = createServer(answer);
    const port = await listenOnLoopback(site);
    await call("import_userinterface", { yaml: simulated });
    await call("import_userinterface", { yaml: web(`http://127.0.0.1:${port}/`) });
    const devices = { kodi: "lab/box", box: "lab/made-up", page: "lab/browser" };
    for (const [userinterface_name, device] of Object.entries(devices)) {
      const session_id = device === "lab/box" ? session : await control(device);
      const run = await call("execute_testcase", {
        ...{ session_id, userinterface_name, testcase: "Open a section", timeout_ms: 120_000 },
      });
      expect(run, userinterface_name).toMatchObject({ status: "passed" });
    }
    expect(await where()).toBe("Settings");
    await closeServer(site);
  });

  it.runIf(walks > 10)("types on the keyboard that the screen shows", async () => {
    const act = (command: string, params: object) =>
      call("execute_device_action", { session_id: session, actions: [{ command, params }] });
    await call("navigate_to_node", { session_id: session, userinterface_name: "kodi", node: "Settings" });
    await act("click_element", { selector: "Add-ons" });
    await act("input_text", { selector: "Search", text: "kodi" });
    // The field of Kodi's keyboard. A call says after a while that the action still runs.
    const label = "Control.GetLabel(312).index(1)";
    await expect
      .poll(() => lab.oracle.ask("XBMC.GetInfoLabels", { labels: [label] }), { timeout: 180_000 })
      .toMatchObject({ [label]: expect.stringContaining("kodi") });
  });
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("content-type", "text/html");
  const [settings, home] = ["<h1>Settings</h1>", '<h1>Welcome</h1><a href="/settings">Settings</a>'];
  response.end(request.url === "/settings" ? settings : home);
}

/** All twelve ways between the four, again and again: the shorter ones first. */
function nodesToVisit(count: number): Node[] {
  const round: Node[] = [
    ...(["Settings", "TV shows", "Home", "TV shows", "Settings", "Home", "Playing", "Settings"] as const),
    ...(["TV shows", "Home", "Settings", "Playing", "TV shows", "Playing", "Home"] as const),
  ];
  return Array.from({ length: count }, (_, at) => round[at % round.length] ?? "Home");
}
