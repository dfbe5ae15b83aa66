import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { type DaemonFile, daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";
import { startRoku } from "../lab/tv/remotes/roku.ts";
import { publishHttp } from "./avSource.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const daemons = ownDaemons("av");
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const uri = expect.stringMatching(/^artifact:\/\/[0-9a-f]{64}$/);

async function publish() {
  const source = await publishHttp([{ seconds: 100 }]);
  ends.push(source.close);
  return source;
}

/** Two watched TVs, one with a remote. */
async function startLab() {
  const [tv, box, roku] = await Promise.all([publish(), publish(), startRoku()]);
  ends.push(roku.close);
  const daemon = await daemons.start({
    dataDir: join(daemons.root, "data"),
    config: `server: { name: lab }
limits: { alert_pending_ms: 100, alert_active_ms: 300, alert_settle_ms: 1 }
agents: { agents: { monitor: { enabled: true } } }
devices:
  - { name: tv, model: stb, watch: true, controllers: { av: { http: "${tv.url}" } } }
  - { name: box, model: stb, watch: true, controllers: { av: { http: "${box.url}" }, roku: { address: 127.0.0.1, port: ${roku.port} } } }
  - { name: plain, model: simulated }
`,
  });
  return { daemon, tv, box, roku };
}

const judge = (daemon: DaemonProcess, device_id: string, command: string, params = {}) =>
  expect
    .poll(async () => {
      const checks = [{ command, params }];
      return (await daemon.call("verify_device_state", { device_id, checks, timeout_ms: 5_000 })).result.pass;
    }, within)
    .toBe(true);

async function alertsOf(daemon: DaemonProcess) {
  const { result } = await daemon.call("list_alerts", { max_tokens: 20_000 });
  return z.array(z.looseObject({})).parse(result.alerts);
}

const eventsSchema = z.object({ events: z.array(z.object({ type: z.string() })) });
async function alertEvents(file: DaemonFile) {
  const told = await fetch(daemonUrl(file, "/server/events?after=0&limit=1000"), {
    headers: daemonHeaders(file, "test"),
  });
  const types = eventsSchema.parse(await told.json()).events.map(({ type }) => type);
  return types.filter((type) => type.startsWith("alert.")).toSorted();
}

it("tells the monitor once of a black picture, with both frames; what our own key darkened is none, and no freeze", async () => {
  const { daemon, tv, box, roku } = await startLab();
  await judge(daemon, "box", "motion");
  const power = [{ command: "press_key", params: { key: "POWER" } }];
  const pressed = await daemon.call("execute_device_action", { device_id: "box", actions: power });
  expect(pressed.error).toBeUndefined();
  expect(roku.keys).toEqual(["Power"]);
  box.darken(true);
  await judge(daemon, "box", "black");
  await judge(daemon, "tv", "motion");
  tv.darken(true);
  await expect.poll(() => alertsOf(daemon), within).toMatchObject([{ state: "active" }]);
  // Long enough for a picture that stands still.
  await judge(daemon, "tv", "black", { for_ms: 1_500 });
  tv.darken(false);
  await expect
    .poll(() => alertsOf(daemon), within)
    .toMatchObject([
      {
        ...{ kind: "blackscreen", state: "resolved", device_id: "lab/tv", start_frame: uri, end_frame: uri },
        ...{ triage: "acknowledged", triage_reason: expect.stringContaining("artifact://") },
      },
    ]);
  expect(await alertEvents(daemon.file())).toEqual(["alert.blackscreen", "alert.resolved", "alert.triaged"]);
  await expectLive(daemon.file());
  await expectRecent(daemon.file());
  const captures = programsOf(daemon.pid, "ffmpeg");
  expect(captures).toHaveLength(2);
  await daemons.kill(daemon);
  await expect.poll(() => captures.filter(isRunning), within).toEqual([]);
});

/** Whoever has the token sees what the TV shows. */
async function expectLive(file: DaemonFile): Promise<void> {
  const live = (id: string, headers: Record<string, string> = daemonHeaders(file, "test")) =>
    fetch(daemonUrl(file, `/api/v1/devices/${id}/live`), { headers });
  expect((await live("tv", {})).status).toBe(401);
  expect((await live("radio")).status).toBe(404);
  const screenshots = await live("plain");
  expect(screenshots.status).toBe(200);
  await screenshots.body?.cancel();
  const viewer = await live("lab/tv");
  expect(viewer.headers.get("content-type")).toMatch(/^multipart\/x-mixed-replace; boundary=/);
  const reader = viewer.body?.getReader();
  let seen = Buffer.alloc(0);
  const parts = () => seen.toString("latin1").split("--labwright-frame\r\n").length - 1;
  while (parts() < 3) seen = Buffer.concat([seen, (await reader?.read())?.value ?? Buffer.alloc(0)]);
  const pictures = seen.toString("latin1").split("\r\n\r\n").slice(1, 3);
  for (const picture of pictures) expect(picture.slice(0, 2)).toBe("\xff\xd8");
  expect(pictures[0]).not.toBe(pictures[1]);
  await reader?.cancel();
}

/** Its last seconds are there too, at addresses that need no token. */
async function expectRecent(file: DaemonFile): Promise<void> {
  const answer = await fetch(daemonUrl(file, "/api/v1/devices/tv/recent"), {
    headers: daemonHeaders(file, "test"),
  });
  const { pictures } = z
    .object({ pictures: z.array(z.object({ at: z.string(), href: z.string() })).min(2) })
    .parse(await answer.json());
  expect(new Set(pictures.map(({ at }) => at)).size).toBe(pictures.length);
  const picture = await fetch(daemonUrl(file, pictures[0]?.href ?? ""));
  expect([...new Uint8Array(await picture.arrayBuffer())].slice(0, 2)).toEqual([0xff, 0xd8]);
}

/** Programs of this name that the main thread of a process started. */
const programsOf = (pid: number, name: string): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .filter((child) => readFileSync(`/proc/${child}/comm`, "utf8").trim() === name);

/** A program that ended waits for its parent to see it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
