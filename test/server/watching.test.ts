import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, ownDaemons } from "../fixtures/daemonProcess.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const daemons = ownDaemons("watching");
const { root, kill } = daemons;
const config = (watch: boolean) => `server: { name: lab }
limits: { alert_pending_ms: 100, alert_active_ms: 300, alert_settle_ms: 1 }
devices:
  - { name: box, model: simulated, watch: ${watch}, controllers: { simulated: { serial: ${root} } } }
`;
const start = ({ watch }: { watch: boolean }) =>
  daemons.start({ dataDir: join(root, "data"), config: config(watch), env: { XDG_RUNTIME_DIR: root } });

async function fault(daemon: DaemonProcess, kind: string, on: boolean): Promise<void> {
  const actions = [{ command: "simulate_fault", params: { kind, on } }];
  expect(await daemon.call("execute_device_action", { device_id: "box", actions })).toMatchObject({
    success: true,
  });
}
const alertsSchema = z.array(z.record(z.string(), z.unknown()));
const alertsOf = async (daemon: DaemonProcess) =>
  alertsSchema.parse((await daemon.call("list_alerts")).result.alerts);
const uri = expect.stringMatching(/^artifact:\/\/[0-9a-f]{64}$/);

/** Processes that were started in this test, the daemons themselves left out. */
const leftovers = () =>
  spawnSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(root) && !line.includes("serve"));

it("a watched device is open from the start; its alert rises and resolves with both pictures", async () => {
  const daemon = await start({ watch: true });
  await expect
    .poll(() => daemon.call("get_device_info", { device_id: "box" }), within)
    .toMatchObject({ result: { open: true } });
  await fault(daemon, "blackscreen", true);
  await expect
    .poll(() => alertsOf(daemon), within)
    .toMatchObject([{ kind: "blackscreen", state: "active", device_id: "lab/box", start_frame: uri }]);
  await fault(daemon, "blackscreen", false);
  await expect
    .poll(() => alertsOf(daemon), within)
    .toMatchObject([{ state: "resolved", start_frame: uri, end_frame: uri }]);
  const [{ start_frame, end_frame } = {}] = await alertsOf(daemon);
  expect(end_frame).not.toBe(start_frame);
});

it("killed while it watches, it leaves nothing running, and no alert of a device that is not watched", async () => {
  const first = await start({ watch: true });
  await fault(first, "freeze", true);
  await expect.poll(() => alertsOf(first), within).toMatchObject([{ kind: "freeze", state: "active" }, {}]);
  expect(leftovers()).not.toEqual([]);
  await kill(first);
  await expect.poll(leftovers, within).toEqual([]);
  // The box that was still is gone with the daemon, and the new one is not still.
  const second = await start({ watch: true });
  await expect
    .poll(() => alertsOf(second), within)
    .toMatchObject([{ kind: "freeze", state: "resolved", end_frame: uri }, {}]);
  await fault(second, "anr", true);
  await expect.poll(() => alertsOf(second), within).toMatchObject([{ kind: "anr", state: "active" }, {}, {}]);
  await kill(second);
  const third = await start({ watch: false });
  await expect
    .poll(() => alertsOf(third), within)
    .toMatchObject([
      {
        kind: "anr",
        state: "resolved",
        message: expect.stringContaining("this device is no longer watched since"),
      },
      {},
      {},
    ]);
});
