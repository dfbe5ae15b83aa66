import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { runCommand } from "#mcp-server/cli/main.ts";
import { kill, productBench, within } from "../../fixtures/daemon.ts";

const secret = "a-secret-of-the-builds";
const twoDays = 172_800_000;
const eventsSchema = z.object({
  events: z.array(z.object({ id: z.int(), type: z.string(), payload: z.record(z.string(), z.unknown()) })),
});

test("a signed word of a failed build, sent twice, has the lab checked once and reported", async () => {
  const bench = productBench();
  onTestFinished(() => bench.end());
  const config = join(bench.dataDir, "labwright.yaml");
  writeFileSync(config, "agents: { agents: { monitor: { enabled: true } } }\n");
  const start = (more = {}) =>
    bench.startDaemon(["--config", config, "--log-level", "error"], {
      LABWRIGHT_SECRET_WEBHOOK: secret,
      ...more,
    });
  await start();
  const daemon = () => bench.daemon() ?? { port: 0, token: "", pid: 0 };
  const body = JSON.stringify({ type: "webhook.ci_failure", id: "build-4711", payload: { build: "4711" } });
  const send = (key: string, at = Math.floor(Date.now() / 1_000)) =>
    fetch(`http://127.0.0.1:${daemon().port}/server/agent/events`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-labwright-signature": `t=${at},v1=${createHmac("sha256", key).update(`${at}.${body}`).digest("hex")}`,
      },
    });
  expect((await send("another secret")).status).toBe(401);
  expect((await send(secret)).ok).toBe(true);
  expect((await send(secret)).ok).toBe(true);
  const told = async () => {
    const response = await fetch(`http://127.0.0.1:${daemon().port}/server/events?after=0&limit=1000`, {
      headers: { authorization: `Bearer ${daemon().token}` },
    });
    return eventsSchema.parse(await response.json()).events;
  };
  const reports = async () => (await told()).filter(({ type }) => type === "agent.report");
  await expect.poll(async () => (await reports()).length, within).toBe(1);
  const failures = (await told()).filter(({ type }) => type === "webhook.ci_failure");
  expect(failures.map(({ payload }) => payload)).toEqual([{ build: "4711" }]);
  expect((await reports())[0]?.payload).toMatchObject({ event_id: failures[0]?.id });
  let out = "";
  const signal = new AbortController().signal;
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: () => {},
    env: {},
    cwd: bench.dataDir,
  };
  const args = ["agents", "tasks", "--data-dir", bench.dataDir, "--config", config];
  expect(await runCommand(args, { ...terminal, signal })).toBe(0);
  // Someone who caught the delivery cannot have the lab checked again after a restart, two days later.
  const later = join(bench.dataDir, "later.mjs");
  writeFileSync(
    later,
    `const Now = Date;
const now = () => Now.now() + ${twoDays};
globalThis.Date = class extends Now {
  constructor(...given) { given.length ? super(...given) : super(now()); }
  static now() { return now(); }
};`,
  );
  kill(daemon().pid, "SIGTERM");
  await expect.poll(() => bench.processes(), within).toEqual([]);
  await start({ NODE_OPTIONS: `--import ${later}` });
  expect((await send(secret, Math.floor((Date.now() + twoDays) / 1_000))).ok).toBe(true);
  expect((await told()).filter(({ type }) => type === "webhook.ci_failure")).toEqual(failures);
  expect(out).toMatch(/ monitor +done +high +webhook\.ci_failure /);
}, 120_000);
