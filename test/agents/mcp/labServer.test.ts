import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolResult } from "@labwright/agent-client";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { RemoteLab } from "#agent-client/mcp/labServer.ts";
import { noUsage } from "#agent-client/model/usage.ts";
import { openTalk, type Talk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { within } from "../../fixtures/daemon.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { calls, held, says } from "../../fixtures/messagesApi/reply.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../../fixtures/messagesApi/server.ts";
import { openPrograms } from "../../fixtures/program.ts";
import { type Site, startSite } from "../../fixtures/site.ts";
import { readBy } from "../skills/bench.ts";
import { type DaemonLab, openDaemonLab } from "./lab.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const yaml = `
devices:
  - { name: browser, model: web }
  - { name: box, model: simulated }
agents: { max_output_tokens: 4321 }`;

let lab: DaemonLab;
let site: Site;
beforeAll(async () => {
  lab = openDaemonLab(yaml);
  site = await startSite();
});
afterAll(async () => {
  await lab.end();
  await site.close();
});

const clients: RemoteLab[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

let count = 0;
function open(): RemoteLab {
  count += 1;
  const client = lab.open(`test-${count}`);
  clients.push(client);
  return client;
}

const unending = () => new AbortController().signal;
const call = (server: RemoteLab, name: string, input: Record<string, unknown> = {}): Promise<ToolResult> =>
  server.toolbox.call({ name, input }, { signal: unending() });
const textOf = ({ parts }: ToolResult) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** A conversation on a client of its own, with a model that says this. */
async function talk(steps: readonly Step[]): Promise<{ server: RemoteLab; talk: Talk; api: MessagesApi }> {
  const api = await startMessagesApi({ respond: script(steps) });
  closers.push(api.close);
  const server = open();
  const opened = openTalk(server, modelsAt(api.url));
  closers.push(() => opened.conversations.close());
  return { server, talk: opened, api };
}

const pidOf = () => lab.bench.daemon()?.pid;

describe("a server that lives", () => {
  test("gives its tools in one order, with what a caller must know of each", async () => {
    const specs = await open().toolbox.specs();
    expect(specs.length).toBeGreaterThan(60);
    expect(specs.map(({ name }) => name)).toEqual((await open().toolbox.specs()).map(({ name }) => name));
    const byName = new Map(specs.map((spec) => [spec.name, spec]));
    expect(byName.get("dump_ui_elements")).toMatchObject({ readOnly: true, destructive: false });
    expect(byName.get("delete_testcase")).toMatchObject({ readOnly: false, destructive: true });
    expect(specs.filter(({ input_schema }) => "$schema" in input_schema)).toEqual([]);
  });

  test("runs a tool, and makes a result of what it refuses", async () => {
    const server = open();
    expect(await call(server, "list_hosts")).toMatchObject({
      isError: false,
      structured: { hosts: [expect.objectContaining({ name: "lab" })] },
    });
    const refused = await call(server, "dump_ui_elements", { device_id: "bocks" });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/DEVICE_NOT_FOUND[\s\S]*box/);
  });

  test("gives a model the address of a report that a person opens without a token", async () => {
    const server = open();
    const actions = [{ command: "press_key", params: { key: "HOME" } }];
    const { structured } = await call(server, "execute_device_action", { device_id: "box", actions });
    const run = z.object({ execution_id: z.string() }).parse(structured);
    const report = await call(server, "get_execution_report", run);
    const address = /^report\.html: (http:\S+)$/m.exec(textOf(report))?.[1] ?? "";
    const opened = await fetch(address);
    expect(opened.headers.get("content-type")).toBe("text/html");
    expect(await opened.text()).toContain("press_key");
    await call(server, "release_control", { device_id: "box" });
  });

  test("gives what its configuration says of agents", async () => {
    expect(await open().settings()).toMatchObject({ max_output_tokens: 4_321 });
  });

  test("has its skills, and one of the user's as soon as it is in the folder", async () => {
    const server = open();
    const before = await server.skills();
    expect(before.map(({ name }) => name)).toContain("run-script");
    expect(before.filter(({ own }) => own)).toEqual([]);
    const folder = join(lab.bench.dataDir, "skills", "greet-box");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "skill.yaml"), ownSkill);
    await expect
      .poll(async () => (await server.skills()).find(({ name }) => name === "greet-box"), within)
      .toMatchObject({ own: true, tools: ["list_hosts", "get_device_info"] });
    // Asked again, nothing has changed: matching learns from the same array once.
    expect(await server.skills()).toBe(await server.skills());
  });

  test("keeps conversations, and leaves those of a holder to it", async () => {
    const [one, other] = [open(), open()];
    const id = `kept-${process.pid}`;
    await one.store.createSession({ id, agent: "assistant", owner: "anna", title: "kept" });
    expect(await one.store.hold(id, "one", 60_000)).toBeDefined();
    expect(await other.store.hold(id, "other", 60_000)).toBeUndefined();
    const message = { role: "user" as const, content: "hello" };
    await one.store.append(id, "one", {
      messages: [{ seq: 1, message }],
      patch: { usage: noUsage, turns: 3 },
    });
    expect(await other.store.messages(id, { after: 0, limit: 1_000 })).toEqual([{ seq: 1, message }]);
    expect(await other.store.findSession(id)).toMatchObject({ owner: "anna", turns: 3 });
    await expect(other.store.append(id, "other", { messages: [{ seq: 2, message }] })).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
  });
});

const ownSkill = `name: greet-box
version: 1.0.0
description: Greets the box of the tests. Use when asked to greet it.
triggers: [greet the box]
system_prompt: Call list_hosts, then get_device_info of the box, and say hello to it.
tools: [list_hosts, get_device_info]
timeout_seconds: 60
`;

describe("a server that is killed with -9", () => {
  test("in the middle of a call that acts: the call is not made twice, the model learns of it, and the run goes on", async () => {
    const {
      server,
      talk: talking,
      api,
    } = await talk([
      calls("take_control", { device_id: "browser" }),
      calls("execute_device_action", { device_id: "browser", actions: [go("/never")] }),
      (_, context) => says(`The server said: ${readBy(context, /(OUTCOME_UNKNOWN)/)}`),
    ]);
    const saying = talking.say("Take control of the device lab/browser");
    await Promise.race([site.waiting(), saying.then(failed)]);
    const before = await lab.killDaemon();
    const { id, ended } = await saying;
    expect(ended).toMatchObject({ outcome: "done", text: "The server said: OUTCOME_UNKNOWN" });
    expect(pidOf()).not.toBe(before);
    expect(site.requests.filter((one) => one === "GET /never")).toHaveLength(1);
    expect(api.refused).toEqual([]);
    const stored = await server.store.messages(id, { after: 0, limit: 1_000 });
    expect(stored.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(stored.map(({ message }) => message.content)).toEqual([
      ...(api.requests.at(-1)?.body.messages.map(({ content }) => content) ?? []),
      expect.anything(),
    ]);
    const events = await server.store.events(id, { after: 0, limit: 1_000 });
    expect(events.filter(({ type }) => type === "tool_result")).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: "session_ended", outcome: "done" });
  });

  test("in the middle of a call that reads: it is asked of the next server", async () => {
    const check = { command: "text_visible", params: { text: "No such text" } };
    const { server, talk: talking } = await talk([
      calls("verify_device_state", { device_id: "box", checks: [check], timeout_ms: 6_000 }),
      (_, context) => says(`The check said: ${readBy(context, /(pass: false)/)}`),
    ]);
    // The next one has no device open yet.
    await call(server, "list_hosts");
    await lab.killDaemon();
    expect(await devicesOpen(server)).toBe(0);
    const saying = talking.say("Verify the screen of lab/box");
    await expect.poll(() => devicesOpen(server), within).toBe(1);
    const before = await lab.killDaemon();
    expect(await saying).toMatchObject({ ended: { outcome: "done", text: "The check said: pass: false" } });
    expect(pidOf()).not.toBe(before);
  });

  test("between two messages: the next one works, with all that was said before", async () => {
    const { talk: talking, api } = await talk([says("one"), says("two")]);
    const { id, ended } = await talking.say("List the devices");
    expect(ended.text).toBe("one");
    const before = await lab.killDaemon();
    expect((await talking.say("List the devices again", id)).ended).toMatchObject({
      outcome: "done",
      text: "two",
    });
    expect(pidOf()).not.toBe(before);
    expect(api.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "user"],
    ]);
  });

  test("while nothing is asked of it: what was acknowledged is there, and a client that was closed starts none", async () => {
    const server = open();
    const id = `acknowledged-${process.pid}`;
    await server.store.createSession({ id, agent: "assistant", owner: "anna", title: "kept" });
    expect(await server.store.hold(id, "one", 600_000)).toBeDefined();
    await lab.killDaemon();
    expect(await server.store.findSession(id)).toMatchObject({ title: "kept" });
    expect(await open().store.hold(id, "two", 600_000)).toBeUndefined();
    await server.close();
    await expect(server.store.findSession(id)).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
  });
});

describe("what a client holds", () => {
  const control = (server: RemoteLab) => call(server, "take_control", { device_id: "box" });

  test("is given back when it is closed", async () => {
    const [one, other] = [open(), open()];
    expect((await control(one)).isError).toBe(false);
    expect(textOf(await control(other))).toContain("DEVICE_HELD");
    await one.close();
    await expect.poll(async () => (await control(other)).isError, within).toBe(false);
    await other.close();
  });

  test("is given back when its process is killed with -9", async () => {
    const gate = hold();
    const api = await startMessagesApi({
      respond: script([calls("take_control", { device_id: "box" }), held(gate, says("I have it."))]),
    });
    closers.push(api.close);
    const programs = openPrograms(lab.bench.dataDir);
    closers.push(programs.end);
    const asked = programs.start("ask", ["--skill", "control-device", "Take control of the device box"], {
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: testKey,
    });
    await Promise.race([gate.reached, asked.ended.then(failed)]);
    const server = open();
    expect(textOf(await control(server))).toMatch(/DEVICE_HELD/);
    asked.signal("SIGKILL");
    await asked.ended;
    await expect.poll(async () => (await control(server)).isError, within).toBe(false);
  });

  test("stays its own over the death of the server", async () => {
    const [one, other] = [open(), open()];
    const { structured } = await control(one);
    await lab.killDaemon();
    // Looking for it again is what starts the next server.
    expect(await control(one)).toMatchObject({ isError: false });
    expect(textOf(await control(other))).toContain("DEVICE_HELD");
    const { session_id } = z.object({ session_id: z.string() }).parse(structured);
    expect(textOf(await call(one, "release_control", { session_id }))).not.toContain("DEVICE_HELD");
    await one.close();
    await expect.poll(async () => (await control(other)).isError, within).toBe(false);
  });
});

const parts = z.object({
  services: z.array(z.looseObject({ name: z.string(), facts: z.looseObject({ open: z.int().optional() }) })),
});
/** How many devices the server drives now: a call under way has opened its own. */
async function devicesOpen(server: RemoteLab): Promise<number | undefined> {
  const { structured } = await call(server, "list_services");
  return parts.parse(structured).services.find(({ name }) => name === "devices")?.facts.open;
}

const failed = (said: unknown) => {
  throw new Error(`It ended too early: ${JSON.stringify(said)}`);
};

const go = (path: string) => ({ command: "navigate_to_url", params: { url: site.url + path } });
