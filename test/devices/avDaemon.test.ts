import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { within } from "../fixtures/daemon.ts";
import { ownDaemons } from "../fixtures/daemonProcess.ts";
import { publishHttp } from "./avSource.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const daemons = ownDaemons("av");
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
const uri = expect.stringMatching(/^artifact:\/\/[0-9a-f]{64}$/);

it("alerts once of a black picture of a watched TV, with both frames, and shows it live to whoever has the token", async () => {
  const source = await publishHttp([{ seconds: 60, black: [2, 4] }]);
  ends.push(source.close);
  const daemon = await daemons.start({
    dataDir: join(daemons.root, "data"),
    config: `server: { name: lab }
limits: { alert_pending_ms: 100, alert_active_ms: 300, alert_settle_ms: 1 }
devices:
  - { name: tv, model: stb, watch: true, controllers: { av: { http: "${source.url}" } } }
  - { name: box, model: simulated }
`,
  });
  const alertsOf = async () =>
    z.array(z.looseObject({})).parse((await daemon.call("list_alerts")).result.alerts);
  await expect
    .poll(alertsOf, within)
    .toMatchObject([
      { kind: "blackscreen", state: "resolved", device_id: "lab/tv", start_frame: uri, end_frame: uri },
    ]);
  const file = daemon.file();
  const live = (id: string, headers: Record<string, string> = daemonHeaders(file, "test")) =>
    fetch(daemonUrl(file, `/api/v1/devices/${id}/live`), { headers });
  expect((await live("tv", {})).status).toBe(401);
  expect((await live("radio")).status).toBe(404);
  const refused = await live("box");
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({ error: { code: "COMMAND_UNSUITABLE" } });
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
  expect(await alertsOf()).toHaveLength(1);
});
