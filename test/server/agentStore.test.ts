import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { httpStore, type StoreRequest, serverSettings } from "#agent-client/store/httpStore.ts";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type Bench, isAlive, kill, productBench, within } from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const open: Bench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.end()));
});

function bench(yaml: string): Bench {
  const made = productBench();
  open.push(made);
  mkdirSync(made.dataDir, { recursive: true });
  writeFileSync(join(made.dataDir, "labwright.yaml"), yaml);
  return made;
}

/** Asks the daemon that is there now. */
function addressed(on: Bench) {
  const send = (path: string, init: RequestInit = {}) => {
    const file = on.daemon();
    if (!file) return Promise.reject(new TypeError("no daemon"));
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(daemonHeaders(file, "agent"))) headers.set(name, value);
    return fetch(daemonUrl(file, path), { ...init, headers });
  };
  const request: StoreRequest = async (path, { method, body }) => {
    const response = await send(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return { send, request };
}

it("the daemon keeps what agents store over its death, and gives them their settings", async () => {
  const on = bench("agents: { max_output_tokens: 512 }\n");
  const pid = await on.startDaemon();
  const { request } = addressed(on);
  expect(await serverSettings(request)).toMatchObject({ max_output_tokens: 512 });
  const store = httpStore(request);
  await store.createSession({ id: "s", agent: "assistant", owner: "me", title: "t" });
  const message = { seq: 1, message: { role: "user", content: "Run goto" } } as const;
  await store.append("s", "a", { messages: [message], patch: { skill: "run-script" } });
  kill(pid, "SIGKILL");
  await expect.poll(() => isAlive(pid), within).toBe(false);
  // Whoever calls next has it started again.
  await (await on.host()).call("list_hosts");
  expect(await store.messages("s", { after: 0, limit: 1_000 })).toEqual([message]);
  expect(await store.findSession("s")).toMatchObject({ skill: "run-script" });
});

it("a daemon that a bridge started stays while a conversation is held, and leaves when the holder's time is over", async () => {
  const on = bench("limits: { idle_exit_ms: 1000 }\n");
  const host = await on.host();
  await host.call("list_hosts");
  const { pid = 0 } = on.daemon() ?? {};
  const before = Date.now();
  const heldMs = 5_000;
  const store = httpStore(addressed(on).request);
  await store.createSession({ id: "held", agent: "assistant", owner: "me", title: "t" });
  expect(await store.hold("held", "agent", heldMs)).toMatchObject({ session: { id: "held" } });
  await host.close();
  await expect.poll(() => isAlive(pid), within).toBe(false);
  expect(Date.now()).toBeGreaterThanOrEqual(before + heldMs);
});

it("a daemon whose agent works by itself stays, where one without leaves", async () => {
  const limits = "limits: { idle_exit_ms: 100 }\n";
  const withAgent = bench(`${limits}agents: { agents: { monitor: { enabled: true } } }\n`);
  const host = await withAgent.host();
  await host.call("publish_event", { alert: { kind: "no_signal", message: "seen from outside" } });
  const alerts = async () => JSON.stringify((await host.call("list_alerts")).structured);
  await expect.poll(alerts, within).toContain("acknowledged");
  const { pid = 0 } = withAgent.daemon() ?? {};
  await host.close();
  // It has had more time to leave than this one.
  const without = bench(limits);
  const later = await without.host();
  await later.call("list_hosts");
  const { pid: leaving = 0 } = without.daemon() ?? {};
  await later.close();
  await expect.poll(() => isAlive(leaving), within).toBe(false);
  expect([pid > 0, isAlive(pid)]).toEqual([true, true]);
});

it("an alert reaches who follows the feed under its own type, once while it is open", async () => {
  const on = bench("{}\n");
  const host = await on.host();
  const publish = async (event: Record<string, unknown>) => {
    expect((await host.call("publish_event", event)).error).toBeUndefined();
  };
  for (const kind of ["blackscreen", "app_crash", "anr", "no_signal", "blackscreen"])
    await publish({ alert: { kind, message: "seen from outside" } });
  await publish({ type: "webhook.ci_failure", priority: "high", payload: { job: "e2e" } });
  const response = await addressed(on).send("/server/events?after=0");
  const { events: seen } = eventsSchema.parse(await response.json());
  expect(seen.map(({ type, priority }) => `${priority} ${type}`)).toEqual([
    "critical alert.blackscreen",
    "critical alert.app_crash",
    "critical alert.anr",
    "critical alert.no_signal",
    "high webhook.ci_failure",
  ]);
  expect(seen[0]).toMatchObject({
    alert_id: expect.any(String),
    payload: { kind: "blackscreen", message: "seen from outside" },
  });
});

const eventsSchema = z.object({
  events: z.array(z.looseObject({ type: z.string(), priority: z.string() })),
});
