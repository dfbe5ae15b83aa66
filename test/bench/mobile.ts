import { mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { findProgram, runProgram } from "@labwright/controllers";
import { documentedDelays, type LabAndroid } from "../lab/android/index.ts";
import type { UiNode } from "../lab/android/labUi.ts";
import { type Phones, withPhones } from "./androidPhones.ts";
import { tokensOf } from "./loginTokens.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";
import { type Reply, type StdioServer, startServer } from "./stdioServer.ts";

const shop = "dev.labwright.shop";
const screens = ["com.android.settings", shop, "dev.labwright.samples"];
/** What the list of the shop has, and a button of the page that it opens. */
const item = "Lamp";
const proof = "Buy";
const usual = { rounds: 9, warmUps: 2 };
const delayed = { rounds: 3, warmUps: 1 };

/**
 * One of the two servers: what a client calls to tap and to see the elements of the screen it led to, and for all elements of
 * the screen. Each has a phone of its own, since
 * one program at a time may read the elements of a phone.
 */
type Side = { device: LabAndroid; tapAndLook(): Promise<Reply>; look(): Promise<Reply> };
/** What a tap and a look behind it cost. */
type Cost = { ms: number; trips: number; bytes: number };

/** Beside `@mobilenext/mobile-mcp` by its legacy robot: its agent is a Java program, which no laboratory runs. */
export async function measureMobile(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const two = [{ persona: "phone" }, { persona: "phone" }] as const;
  const plain = await withPhones(sides, two, (phones) =>
    withBoth(sides, phones, async (ours, theirs) => [
      ...(await tapAndLook([ours, theirs], usual)),
      ...(await dumps(ours, theirs, note)),
    ]),
  );
  const slowTwo = two.map((phone) => ({ ...phone, delays: documentedDelays }));
  const slow = await withPhones(sides, slowTwo, (phones) =>
    withBoth(sides, phones, (ours, theirs) => tapAndLook([ours, theirs], delayed)),
  );
  const time = slow.find(({ id }) => id === "mobile.time");
  return [...plain, ...(time ? [{ ...time, id: "mobile.delayed" }] : [])];
}

async function withBoth<Result>(
  sides: Sides,
  phones: Phones,
  use: (ours: Side, theirs: Side) => Promise<Result>,
): Promise<Result> {
  const [own, other] = phones.phones;
  if (!own || !other) throw new Error("The laboratory has not two phones.");
  const { device_id } = own;
  const { serial } = other;
  const peer = await startPeer(sides, phones);
  const server = await phones.start();
  try {
    await peer.server.initialize();
    // Both have met the phone before anything is counted.
    await peer.server.call("mobile_list_available_devices", {});
    const touch = itemOf(own.device);
    const look = () => peer.server.call("mobile_list_elements_on_screen", { device: serial });
    return await use(
      {
        device: own.device,
        // The reply has the screen.
        tapAndLook: () =>
          server.call("execute_device_action", { device_id, actions: [{ command: "tap", params: touch }] }),
        look: () => server.call("dump_ui_elements", { device_id, interactive_only: false }),
      },
      {
        device: other.device,
        async tapAndLook() {
          await peer.server.call("mobile_click_on_screen_at_coordinates", { device: serial, ...touch });
          return look();
        },
        look,
      },
    );
  } finally {
    await server.end();
    await peer.end();
  }
}

/** Without its telemetry. Its program leaves a daemon behind, which is ended too. */
async function startPeer(
  { root, scratch }: Sides,
  { lab }: Phones,
): Promise<{ server: StdioServer; end(): Promise<void> }> {
  const { resolve } = createRequire(join(root, "test", "package.json"));
  const program = resolve("@mobilenext/mobile-mcp/lib/index.js");
  const sdk = join(scratch, `sdk-${lab.adbPort}`);
  await mkdir(join(sdk, "platform-tools"), { recursive: true });
  await symlink(findProgram("adb") ?? "adb", join(sdk, "platform-tools", "adb"));
  const env = {
    PATH: lab.env.PATH ?? "",
    HOME: lab.env.HOME ?? "",
    ANDROID_ADB_SERVER_PORT: String(lab.adbPort),
    ANDROID_HOME: sdk,
    MOBILEMCP_DISABLE_TELEMETRY: "1",
    MOBILEMCP_LEGACY_ROBOT: "1",
  };
  const server = startServer({ args: [program, "--stdio"], env, cwd: scratch });
  const platform = `mobilecli-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const cli = join(dirname(program), "..", "..", platform, platform);
  return {
    server,
    async end() {
      await server.end();
      await runProgram(cli, ["daemon", "stop"], {
        env,
        timeoutMs: 20_000,
        signal: AbortSignal.timeout(20_000),
      });
    },
  };
}

/** The middle of the item on the screen. */
function itemOf({ ui }: LabAndroid): { x: number; y: number } {
  ui.start({ packageName: shop });
  const find = (node: UiNode): UiNode | undefined =>
    node.text === item ? node : node.children.map(find).find((found) => found !== undefined);
  const found = find(ui.active().root);
  if (!found) throw new Error(`The shop does not show ${item}.`);
  const { x, y, width, height } = found.bounds;
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
}

/** A tap that leads to another screen, and that screen's elements. */
async function tapAndLook(
  [ours, theirs]: readonly [Side, Side],
  options: { rounds: number; warmUps: number },
): Promise<Measurement[]> {
  const costs: [Cost[], Cost[]] = [[], []];
  const round = (side: Side, all: Cost[]) => async (): Promise<number> => {
    const { device } = side;
    device.ui.home();
    device.ui.stop(shop);
    device.ui.start({ packageName: shop });
    // Not counted: who acts has seen the screen before.
    await side.look();
    device.traffic.reset();
    const { ms, result } = await timed(() => side.tapAndLook());
    if (!result.text.includes(proof)) throw new Error(`The tap led nowhere:\n${result.text.slice(0, 500)}`);
    const { roundTrips, received, sent } = device.traffic;
    all.push({ ms, trips: roundTrips, bytes: received + sent });
    return ms;
  };
  await alternate([round(ours, costs[0]), round(theirs, costs[1])], options);
  const counted = costs.map((all) => all.slice(options.warmUps));
  const row = (id: string, of: keyof Cost): Measurement => {
    const [own = [], other = []] = counted.map((all) => all.map((cost) => cost[of]));
    const figures = { ours: median(own), theirs: median(other), runs: own.length };
    return { id, ...figures, ratios: ratiosOf(own, other) };
  };
  return [row("mobile.trips", "trips"), row("mobile.bytes", "bytes"), row("mobile.time", "ms")];
}

/** What theirs calls the text, label, name or value of an element. */
const theirNames = /\b(?:text|label|name|value)=("(?:[^"\\]|\\.)*")/g;

/** All elements of three screens, those that only are there to be read included. */
async function dumps(ours: Side, theirs: Side, note: (line: string) => void): Promise<Measurement[]> {
  const tokens = { ours: 0, theirs: 0 };
  const missing: string[] = [];
  let named = 0;
  for (const packageName of screens) {
    for (const { device } of [ours, theirs]) {
      device.ui.home();
      device.ui.stop(packageName);
      device.ui.start({ packageName });
    }
    const [own, other] = [await ours.look(), await theirs.look()];
    const costs = [tokensOf(own), tokensOf(other)] as const;
    tokens.ours += costs[0];
    tokens.theirs += costs[1];
    const names = new Set(
      [...other.text.matchAll(theirNames)].map(([, name = '""']) => String(JSON.parse(name))),
    );
    if (names.size === 0)
      throw new Error(`Theirs names nothing of ${packageName}:\n${other.text.slice(0, 500)}`);
    named += names.size;
    missing.push(...[...names].filter((name) => !own.text.includes(name)));
    note(`mobile: ${packageName}: ${costs.join(" tokens, theirs ")}, ${names.size} names`);
  }
  if (missing.length > 0) note(`mobile: not in ours: ${missing.join(", ")}`);
  return [
    { id: "mobile.tokens", ...tokens, runs: screens.length },
    { id: "mobile.missing", ours: missing.length, runs: named },
  ];
}
