import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const daemons = ownDaemons("claims");
const { root } = daemons;
const config = `server: { name: lab }
devices:
  - { name: box, model: simulated, controllers: { simulated: { serial: XYZ } } }
  - { name: free, model: simulated }
`;
const start = (name: string) =>
  daemons.start({ dataDir: join(root, name), config, env: { XDG_RUNTIME_DIR: root } });

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
