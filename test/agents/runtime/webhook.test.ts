import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { runCommand } from "#mcp-server/cli/main.ts";
import { productBench, within } from "../../fixtures/daemon.ts";

const secret = "a-secret-of-the-builds";
const eventsSchema = z.object({
  events: z.array(z.object({ id: z.int(), type: z.string(), payload: z.record(z.string(), z.unknown()) })),
});

test("a signed word of a failed build, sent twice, has the lab checked once and reported", async () => {
  const bench = productBench();
  onTestFinished(() => bench.end());
  const config = join(bench.dataDir, "labwright.yaml");
  writeFileSync(config, "agents: { agents: { monitor: { enabled: true } } }\n");
  await bench.startDaemon(["--config", config, "--log-level", "error"], { LABWRIGHT_SECRET_WEBHOOK: secret });
  const { port = 0, token = "" } = bench.daemon() ?? {};
  const url = `http://127.0.0.1:${port}/server/agent`;
  const body = JSON.stringify({ type: "webhook.ci_failure", id: "build-4711", payload: { build: "4711" } });
  const at = Math.floor(Date.now() / 1_000);
  const send = (key: string) =>
    fetch(`${url}/events`, {
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
    const response = await fetch(`http://127.0.0.1:${port}/server/events?after=0&limit=1000`, {
      headers: { authorization: `Bearer ${token}` },
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
  expect(out).toMatch(/ monitor +done +high +webhook\.ci_failure /);
}, 120_000);
