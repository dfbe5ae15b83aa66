import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { kill, productBench, within } from "../../fixtures/daemon.ts";

const yaml = `server: { name: lab }
devices: [{ name: box, model: web }]
agents: { agents: { monitor: { enabled: true } } }
`;

const alertSchema = z.object({ alert_id: z.string() });
const alertsSchema = z.object({
  alerts: z.array(z.object({ alert_id: z.string(), triage: z.string().optional() })),
});
const hostsSchema = z.object({
  hosts: z.array(z.object({ devices: z.array(z.object({ state: z.string() })) })),
});
const eventsSchema = z.object({
  events: z.array(z.object({ type: z.string(), alert_id: z.string().optional() })),
});

test("a daemon that is killed with -9 while its agent has a device: the next one ends the work once, and the device is free", async () => {
  const bench = productBench();
  onTestFinished(() => bench.end());
  const { dataDir } = bench;
  const config = join(dataDir, "labwright.yaml");
  writeFileSync(config, yaml);
  await bench.startDaemon(["--config", config, "--log-level", "error"]);
  const host = await bench.host("anna", { args: ["--config", config] });
  const state = async () => {
    const { hosts } = hostsSchema.parse((await host.call("list_hosts")).structured);
    return hosts[0]?.devices[0]?.state;
  };

  const triage = async (id: string) => {
    const { alerts } = alertsSchema.parse(
      (await host.call("list_alerts", { max_tokens: 50_000 })).structured,
    );
    return alerts.find(({ alert_id }) => alert_id === id)?.triage;
  };
  const raise = async () => {
    const alert = { kind: "blackscreen", message: "The picture is black", device_id: "box" };
    return alertSchema.parse((await host.call("publish_event", { alert })).structured).alert_id;
  };
  /** True when it has the device, false when it was quicker than we look. */
  const isHolding = async (id: string) => {
    for (const until = Date.now() + within.timeout; Date.now() < until; ) {
      if ((await state())?.startsWith("held by agent")) return true;
      if ((await triage(id)) !== undefined) return false;
    }
    throw new Error("The agent did nothing with the alert.");
  };

  let id = await raise();
  for (let tries = 0; !(await isHolding(id)); tries++) {
    expect(tries, "it was never seen with the device").toBeLessThan(20);
    await host.call("update_alert", { alert_id: id, action: "resolve" });
    id = await raise();
  }
  kill(bench.daemon()?.pid ?? 0, "SIGKILL");
  // What the host asks next starts the next daemon, which has the agents too.
  await expect.poll(() => triage(id), within).toBe("acknowledged");
  await expect.poll(state, within).toBe("free");
  const { port = 0, token = "" } = bench.daemon() ?? {};
  const told = await fetch(`http://127.0.0.1:${port}/server/events?after=0&limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { events } = eventsSchema.parse(await told.json());
  const triaged = events.filter(({ type, alert_id }) => type === "alert.triaged" && alert_id === id);
  expect(triaged).toHaveLength(1);
}, 240_000);
