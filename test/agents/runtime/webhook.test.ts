import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { kill, productBench, productServe, within } from "../../fixtures/daemon.ts";

const secret = "a-secret-of-the-builds";
const eventsSchema = z.object({
  events: z.array(z.object({ id: z.int(), type: z.string(), payload: z.record(z.string(), z.unknown()) })),
});

test("a signed word of a failed build, sent twice, has the lab checked once and reported", async () => {
  const bench = productBench();
  onTestFinished(() => bench.end());
  await bench.startDaemon(["--log-level", "error"]);
  const [program = ""] = productServe;
  const agent = spawn(process.execPath, [program, "agent", "--data-dir", bench.dataDir, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, LABWRIGHT_SECRET_WEBHOOK: secret },
  });
  // It ends before the daemon does: it would start another one.
  onTestFinished(async () => {
    const ended = once(agent, "exit");
    kill(agent.pid ?? 0, "SIGTERM");
    await ended;
  });
  const [line] = await once(createInterface({ input: agent.stdout }), "line");
  const url = /http:\/\/[\d.:]+\/server\/agent/.exec(String(line))?.[0] ?? "";
  const body = JSON.stringify({ type: "webhook.ci_failure", payload: { build: "4711" } });
  const at = Math.floor(Date.now() / 1_000);
  const send = (key: string) =>
    fetch(`${url}/events`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-labwright-delivery": "delivery-1",
        "x-labwright-signature": `t=${at},v1=${createHmac("sha256", key).update(`${at}.${body}`).digest("hex")}`,
      },
    });
  expect((await send("another secret")).status).toBe(401);
  expect((await send(secret)).ok).toBe(true);
  expect((await send(secret)).ok).toBe(true);
  const told = async () => {
    const { port = 0, token = "" } = bench.daemon() ?? {};
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
}, 120_000);
