import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineFactory, type LogLine } from "@labwright/controllers";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  createProcesses,
  type LogQuery,
  type ProcessDependencies,
} from "#mcp-server/services/lab/processes/index.ts";
import { linesFromEnd, readLogs } from "#mcp-server/services/lab/processes/logs.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-parts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clock = fakeClock();
await clock.advance(5_000);
const serving = {
  version: "1.2.3",
  build: "abc",
  host: "127.0.0.1",
  port: 7333,
  tls: false,
  clients: () => ({ bridges: 2, sessions: 0 }),
};
const parts = (given: Partial<ProcessDependencies> = {}) =>
  createProcesses({
    logFolder: folder,
    database: { engine: "pglite", bytes: async () => 7_340_032 },
    devices: simulatedDevices({ names: ["box", "tv"] }),
    executions: { running: () => 0 },
    secrets: testSecrets(),
    clock,
    serving: () => serving,
    ...given,
  }).list();

test("every part says its state, with facts that are so", async () => {
  writeFileSync(join(folder, "daemon.log"), "x".repeat(1_048_576));
  expect(await parts({ executions: { running: () => 3 } })).toEqual([
    {
      name: "daemon",
      state: "running",
      since: new Date(performance.timeOrigin).toISOString(),
      facts: {
        pid: process.pid,
        version: "1.2.3",
        build: "abc",
        uptime_s: 5,
        memory_mb: expect.closeTo(process.memoryUsage.rss() / 1_048_576, -2),
      },
    },
    { name: "endpoint", state: "running", facts: { host: "127.0.0.1", port: 7333, tls: false } },
    { name: "clients", state: "running", facts: { bridges: 2, http_sessions: 0 } },
    { name: "database", state: "running", facts: { engine: "pglite", size_mb: 7 } },
    { name: "devices", state: "idle", facts: { open: 0, configured: 2, leases: 0 } },
    { name: "executions", state: "running", facts: { running: 3 } },
    { name: "log", state: "running", facts: { file: "logs/daemon.log", size_mb: 1 } },
  ]);
});

test("a part that fails, or never answers, says so and takes no other with it", async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const listed = parts({
    database: {
      engine: "postgresql",
      bytes: () => Promise.reject(new Error("no postgres://me:pw1234@db\nat x")),
    },
    devices: Object.assign(simulatedDevices({ names: [] }), {
      leases: () => {
        asked();
        return new Promise(() => {});
      },
    }),
    executions: {
      running: () => {
        throw new Error("");
      },
    },
  });
  await isAsked;
  await clock.advance(5_000);
  const states = Object.fromEntries((await listed).map(({ name, state, reason }) => [name, [state, reason]]));
  expect(states).toMatchObject({
    daemon: ["running", undefined],
    database: ["failed", "no postgres://me:[redacted]@db"],
    devices: ["failed", "no answer within 5000 ms"],
    executions: ["failed", "Error"],
    log: ["running", undefined],
  });
  expect(clock.waiting(), "no timer is left").toBe(0);
});

test("a process that serves no one has no endpoint and no clients, and says why", async () => {
  const listed = await parts({ serving: () => undefined, logFolder: join(folder, "none") });
  const absent = listed.filter(({ state }) => state === "absent");
  expect(absent.map(({ name }) => name)).toEqual(["endpoint", "clients", "log"]);
  for (const { reason } of absent) expect(reason).toBeTruthy();
});

let logFolder: string;
beforeEach(() => {
  logFolder = mkdtempSync(join(tmpdir(), "labwright-logs-"));
});
afterEach(() => rmSync(logFolder, { recursive: true, force: true }));

const at = (second: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + second * 1_000).toISOString();
const call = (second: number, more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ level: "info", time: at(second), tool: "list_hosts", outcome: "ok", msg: "call", ...more })}\n`;
const write = (text: string, name = "daemon.log") => appendFileSync(join(logFolder, name), text);
const secrets = testSecrets({ PIN: "hunter2 4711" });
const view = (query: Partial<LogQuery> = {}, devices = simulatedDevices({ names: [] })) =>
  readLogs({ maxTokens: 2_000, ...query }, { logFolder, secrets, devices }, callContext());
const linesOf = async (query: Partial<LogQuery> = {}) => (await view(query)).lines.split("\n");

test("lines are newest first, the file before the last one included, one line each", async () => {
  write(call(1), "daemon.log.1");
  write(call(2) + call(3, { level: "warn", outcome: "DEVICE_HELD", device_id: "lab/box" }));
  expect(await view()).toEqual({
    shown: 3,
    lines: [
      `${at(3)} warn call tool=list_hosts outcome=DEVICE_HELD device_id=lab/box`,
      `${at(2)} info call tool=list_hosts outcome=ok`,
      `${at(1)} info call tool=list_hosts outcome=ok`,
    ].join("\n"),
    more: 0,
    malformed: 0,
    unread: 0,
  });
});

describe("a filter", () => {
  beforeEach(() => {
    write(call(1, { level: "debug", msg: "looked" }));
    write(call(2, { tool: "take_control", trace_id: "abc", execution_id: "x-1" }));
    write(call(3, { level: "error", msg: "fault", err: { type: "TypeError", message: "no such thing" } }));
    write("(node:12) something that is no record\n");
    write(call(4, { level: "fatal", msg: "gone" }));
  });
  const seconds = async (query: Partial<LogQuery>) =>
    (await linesOf(query))
      .filter(Boolean)
      .map((line) => (line.startsWith("?") ? "?" : Number(line.slice(17, 19))));
  test.each<[Partial<LogQuery>, (number | string)[]]>([
    [{}, [4, "?", 3, 2, 1]],
    [{ level: "error" }, [4, 3]],
    [{ level: "info" }, [4, 3, 2]],
    [{ since: at(2), until: at(3) }, [3, 2]],
    [{ since: "2026-01-02" }, []],
    [{ until: "2025-12-31T23:00:00-01:00" }, []],
    [{ tool: "take_control" }, [2]],
    [{ trace_id: "abc" }, [2]],
    [{ execution_id: "x-1", level: "warn" }, []],
    [{ text: "NO SUCH" }, [3]],
    [{ text: "no record" }, ["?"]],
  ])("%o", async (query, expected) => {
    expect(await seconds(query)).toEqual(expected);
    if (query.since === undefined) expect((await view(query)).malformed).toBe(1);
  });

  test("a time that is none and a log that is not there are refused", async () => {
    await expect(view({ since: "monday" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    for (const service of ["deamon", "../daemon", "/etc/passwd"])
      await expect(view({ service })).rejects.toMatchObject({
        code: "INVALID_INPUT",
        details: { services: ["daemon"] },
      });
  });
});

test("what is secret, or looks like a key, is hidden again, and cannot be guessed by a search", async () => {
  const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  write(call(1, { msg: "typed hunter2 4711 at once" }));
  write(call(2, { url: `https://anna:pa55word@shop.test/`, token }));
  write(call(3, { body: JSON.stringify({ pin: "hunter2 4711" }) }).replaceAll("hunter2", "\\u0068unter2"));
  write("crashed with hunter2 4711\n");
  const { lines, shown } = await view();
  expect(shown).toBe(4);
  expect(lines).not.toMatch(/hunter2|pa55word|ghp_/);
  expect(lines).toContain("typed [secret PIN] at once");
  expect(lines).toContain("? crashed with [secret PIN]");
  for (const text of ["hunter2", "pa55", token])
    expect(await view({ text })).toMatchObject({ shown: 0, more: 0 });
  expect(await view({ text: "[secret pin]" })).toMatchObject({ shown: 3 });
});

test("text in a log cannot make lines of its own", async () => {
  write(call(1, { msg: `said\n${at(9)} fatal forged\r\n\u2028more` }));
  const lines = await linesOf();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^2026-01-01T00:00:01.000Z info said /);
});

test("an error shows its message and where it came from, in a line", async () => {
  const stack = `TypeError: no\n    at first (a.js:1:2)\n    at second (b.js:3:4)\n${"    at far (z.js:1:1)\n".repeat(50)}`;
  write(call(1, { level: "error", msg: "fault", err: { type: "TypeError", message: "no", stack } }));
  expect((await linesOf())[0]).toContain("err='TypeError: no < first (a.js:1:2) < second (b.js:3:4) <");
});

test("a page keeps within its tokens, at least a line, and counts the rest", async () => {
  write(Array.from({ length: 500 }, (_, second) => call(second)).join(""));
  const { lines, shown, more } = await view({ maxTokens: 500 });
  expect(encode(lines).length).toBeLessThanOrEqual(500);
  expect(shown).toBeGreaterThan(5);
  expect(shown + more).toBe(500);
  expect(await view({ maxTokens: 1 })).toMatchObject({ shown: 1, more: 499 });
});

test("a log that is longer than any of ours is read from its end only, and what is left is reported", async () => {
  write(call(1));
  truncateSync(join(logFolder, "daemon.log"), 30_000_000);
  write(`\n${call(2)}`);
  const { shown, unread } = await view({ tool: "list_hosts" });
  expect(shown).toBe(1);
  expect(unread).toBeGreaterThan(5_000_000);
});

test("no log at all is not a line", async () => {
  expect(await view()).toEqual({ shown: 0, lines: "", more: 0, malformed: 0, unread: 0 });
  rmSync(logFolder, { recursive: true });
  expect(await view({ service: "daemon" })).toMatchObject({ shown: 0 });
});

describe("the log of a device", () => {
  const line = (second: number, text: string, more: Partial<LogLine> = {}): LogLine => ({
    ...{ seq: second, at: at(second), level: "info", text },
    ...more,
  });
  /** `lab/box` has two controllers with logs, `lab/plain` none. */
  function loggingDevices(...logs: LogLine[][]) {
    const kinds = ["remote", "verification_text"] as const;
    const factory = defineFactory({
      ...{ name: "logging", kinds, settings: z.unknown(), offers: () => [] },
      create: (_, { deviceId }) =>
        kinds.map((kind, index) => {
          const lines = logs[index] ?? [];
          return {
            ...{ kind, commands: [], checks: [], noticesAfter: () => [] },
            ...{ open: async () => {}, close: async () => {}, isAlive: () => true },
            ...(deviceId === "lab/box" && { logs: { lines: async ({ limit }) => lines.slice(-limit) } }),
          };
        }),
    });
    return simulatedDevices({ names: ["box", "plain"], factories: [factory] });
  }

  test("is read by its id or name, newest first over all its sources, filtered and paged as any other", async () => {
    const devices = loggingDevices(
      [line(1, "booted", { source: "kernel" }), line(3, "black", { level: "error" })],
      [line(2, "tuned", { level: "warning" })],
    );
    expect(await view({ service: "lab/box" }, devices)).toEqual({
      shown: 3,
      lines: [`${at(3)} error black`, `${at(2)} warn tuned`, `${at(1)} info booted source=kernel`].join("\n"),
      ...{ more: 0, malformed: 0, unread: 0 },
    });
    expect((await view({ service: "box", level: "warn", until: at(2) }, devices)).lines).toBe(
      `${at(2)} warn tuned`,
    );
    expect((await view({ service: "box", text: "BOOT" }, devices)).shown).toBe(1);
    expect((await view({ service: "box", tool: "list_hosts" }, devices)).shown).toBe(0);
    expect(await view({ service: "box", maxTokens: 1 }, devices)).toMatchObject({ shown: 1, more: 2 });
  });

  test("is masked, and no line of it makes another", async () => {
    const devices = loggingDevices([
      line(1, `typed hunter2 4711\n${at(9)} fatal forged`, { source: "a\nb" }),
    ]);
    const { lines } = await view({ service: "box" }, devices);
    expect(lines).toBe(`${at(1)} info typed [secret PIN] ${at(9)} fatal forged source='a b'`);
    expect(await view({ service: "box", text: "hunter2" }, devices)).toMatchObject({ shown: 0, more: 0 });
  });

  test("that keeps none says so and names the open devices that do", async () => {
    const devices = loggingDevices([line(1, "booted")]);
    const refused = () => view({ service: "plain" }, devices).catch((error: unknown) => error);
    expect(await refused()).toMatchObject({ code: "CONTROLLER_UNAVAILABLE", details: { devices: [] } });
    await view({ service: "box" }, devices);
    expect(await refused()).toMatchObject({
      code: "CONTROLLER_UNAVAILABLE",
      message: expect.stringContaining("lab/plain keeps no log"),
      hint: expect.stringContaining("lab/box"),
    });
    await expect(view({ service: "bx" }, devices)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      details: { services: ["daemon", "lab/box", "lab/plain"] },
    });
  });
});

describe("lines from the end", () => {
  const read = async (text: string, maxBytes = 1_000_000_000) => {
    const file = join(logFolder, "some");
    writeFileSync(file, text);
    return linesFromEnd(file, maxBytes);
  };
  test("are whole, whatever they hold", async () => {
    const all = ["first", `é${"ü".repeat(300_000)}漢`, "", "last"];
    expect(await read(all.join("\n"))).toEqual(all.toReversed());
    expect(await read("")).toEqual([""]);
  });
  test("leave out a line that the bound cuts in two", async () => {
    expect(await read("one\ntwo\nthree", 7)).toEqual(["three"]);
    expect(await read("one\ntwo\nthree", 10)).toEqual(["three", "two"]);
  });
});
