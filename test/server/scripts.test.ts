import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { type Bench, kill, productBench, within } from "../fixtures/daemon.ts";
import { hasSandbox, sleepers } from "../fixtures/sandbox.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

it.runIf(hasSandbox)(
  "a daemon killed with -9 leaves nothing of a script, whose run is marked interrupted",
  async () => {
    const bench = productBench();
    open.push(bench);
    writeFileSync(join(bench.dataDir, "labwright.yaml"), "devices: [{ name: box, model: simulated }]");
    mkdirSync(join(bench.dataDir, "scripts"));
    writeFileSync(
      join(bench.dataDir, "scripts", "long.sh"),
      "labwright call list_hosts > /dev/null || exit 1\nsetsid sleep 8171 & sleep 8171 & wait\n",
    );
    const host = await bench.host();
    const started = await host.call("execute_script", { script: "long.sh", wait_ms: 0 });
    const execution_id = z.string().parse(started.structured.execution_id);
    await expect.poll(() => sleepers(8171).length, within).toBe(2);

    const before = bench.daemon()?.pid ?? 0;
    kill(before, "SIGKILL");
    await expect.poll(() => sleepers(8171), within).toEqual([]);
    const { structured } = await host.call("get_execution_status", { execution_id });
    expect(structured).toMatchObject({ status: "error", reason: { code: "INTERRUPTED" } });
    expect(z.array(z.looseObject({ step: z.string() })).parse(structured.steps)).toMatchObject([
      { step: "list_hosts" },
    ]);
    expect(bench.daemon()?.pid).not.toBe(before);

    writeFileSync(join(bench.dataDir, "scripts", "short.sh"), "true\n");
    const next = await host.call("execute_script", { script: "short.sh" });
    expect(next.structured).toMatchObject({ status: "passed" });
    expect(readdirSync(join(bench.dataDir, "runs"))).toEqual([]);
  },
);
