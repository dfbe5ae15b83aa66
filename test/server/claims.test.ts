import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let root: string;
const daemons: DaemonProcess[] = [];
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "labwright-claims-"));
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) {
    daemon.signal("SIGKILL");
    await daemon.ended;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const config = `server: { name: lab }
devices:
  - { name: box, model: simulated, controllers: { simulated: { serial: XYZ } } }
  - { name: free, model: simulated }
`;
async function start(name: string): Promise<DaemonProcess> {
  const dataDir = join(root, name);
  const daemon = await startDaemonProcess({ dataDir, config, env: { XDG_RUNTIME_DIR: root } });
  daemons.push(daemon);
  return daemon;
}

it("a device that another daemon of this user uses is busy, until that daemon is killed", async () => {
  const [one, two] = [await start("one"), await start("two")];
  const take = (daemon: DaemonProcess) => daemon.call("take_control", { device_id: "box" });
  expect(await take(one)).toMatchObject({ success: true });
  expect(await take(two)).toMatchObject({
    error: {
      code: "DEVICE_BUSY",
      message: expect.stringMatching(new RegExp(`process ${one.pid}.*${one.dataDir}.*labwright stop`)),
    },
  });
  expect(await two.call("take_control", { device_id: "free" })).toMatchObject({ success: true });
  one.signal("SIGKILL");
  await one.ended;
  await expect.poll(() => take(two), within).toMatchObject({ success: true });
});
