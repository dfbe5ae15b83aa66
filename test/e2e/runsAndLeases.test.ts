import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Bench, productBench, within } from "../fixtures/daemon.ts";

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

function bench(): Bench {
  const made = productBench();
  open.push(made);
  const config = "devices: [{ name: box, model: simulated }]\nlimits: { call_ms: 2000 }\n";
  writeFileSync(join(made.dataDir, "labwright.yaml"), config);
  return made;
}

const slow = (ms: number) => ({ actions: [{ command: "press_key", params: { key: "HOME" }, wait_ms: ms }] });

test("over the bridge, a call's limit leaves its run alone, and the end of the bridge ends it", async () => {
  const made = bench();
  const [ann, bob] = [await made.host("ann"), await made.host("bob")];
  const reply = await ann.call("execute_device_action", { ...slow(4_000), wait_ms: 600_000 });
  expect(reply.error).toBeUndefined();
  expect(reply.structured).toMatchObject({ status: "running", execution_id: expect.any(String) });
  const statusOf = async (id: unknown) =>
    (await bob.call("get_execution_status", { execution_id: id, wait_ms: 1_000 })).structured.status;
  await expect.poll(() => statusOf(reply.structured.execution_id), within).toBe("passed");

  const endless = await ann.call("execute_device_action", { ...slow(60_000), wait_ms: 0 });
  expect((await bob.call("take_control")).error).toMatchObject({ code: "DEVICE_HELD" });
  await ann.close();
  const taken = async () => (await bob.call("take_control")).error?.code ?? "taken";
  await expect.poll(taken, within).toBe("taken");
  expect(await statusOf(endless.structured.execution_id)).toBe("cancelled");
}, 240_000);
