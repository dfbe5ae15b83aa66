import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { exchangesIn } from "../../fixtures/messagesApi/replay.ts";
import { calls, held, says } from "../../fixtures/messagesApi/reply.ts";
import { byConversation, type Step } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../../fixtures/messagesApi/server.ts";

// The program as a user starts it: the bundle, a daemon that it starts itself, the stand-in for Anthropic's server.

const bin = fileURLToPath(new URL("../../../mcp-server/bin/labwright.js", import.meta.url));
let folder: string;
let api: MessagesApi | undefined;
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "labwright-agent-cli-"));
  mkdirSync(join(folder, "data"));
  const lines = ["devices: [{ name: box, model: simulated }]", "agents: { }"];
  writeFileSync(join(folder, "data", "labwright.yaml"), `${lines.join("\n")}\n`);
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await api?.close();
  api = undefined;
});
afterAll(async () => {
  await labwright(["stop"]).ended;
  rmSync(folder, { recursive: true, force: true });
});

/** A stand-in that says this in each conversation, found by a part of its first message. */
async function model(scripts: Record<string, readonly Step[]>): Promise<Record<string, string>> {
  api = await startMessagesApi({ respond: byConversation(scripts) });
  return { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: testKey };
}

function labwright(
  args: readonly string[],
  given: { env?: Record<string, string>; stdin?: string | null } = {},
) {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, LABWRIGHT_DATA_DIR: join(folder, "data") },
      ...{ LABWRIGHT_BROWSER_SANDBOX: "optional", ...given.env },
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.err += text;
  });
  // Null leaves it open.
  if (given.stdin !== null) child.stdin.end(given.stdin ?? "");
  const ended = once(child, "close").then(([code]) => ({ code: z.int().nullable().parse(code), ...written }));
  return { child, written, ended };
}

/** The program at a pseudo terminal, which `script` of util-linux opens. */
function atTerminal(args: readonly string[], env: Record<string, string>) {
  const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, TERM: "xterm-256color", SHELL: "/bin/sh" },
      ...{ LABWRIGHT_DATA_DIR: join(folder, "data"), ...env },
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  const ended = once(child, "close").then(([code]) => z.int().nullable().parse(code));
  /** Waits for this text after all that was waited for before. */
  let from = 0;
  const sees = async (text: string) => {
    await vi.waitFor(() => expect(screen.slice(from)).toContain(text), { timeout: 30_000 });
    from = screen.indexOf(text, from) + text.length;
  };
  return { ended, sees, types: (text: string) => child.stdin.write(text), screen: () => screen };
}

const eventSchema = z.looseObject({ type: z.string(), tool: z.string().optional() });
const listing: readonly Step[] = [calls("list_hosts"), says("There is one device: box.")];
const listDevices = ["ask", "--skill", "list-resources", "List the devices"];

describe("labwright ask", () => {
  it("has a real server do what the model asks for, and prints its answer alone", async () => {
    const env = await model({ "List the devices": listing });
    const { code, out, err } = await labwright(listDevices, { env }).ended;
    expect({ code, out, err }).toMatchObject({ code: 0, out: "There is one device: box.\n" });
    expect(err).toMatch(/LOAD SKILL list-resources\n[\s\S]*→ list_hosts\(\)\n← list_hosts [\d.]+ m?s ok\n/);
    expect(err).toMatch(/2 turns · .* tokens in \(.*\), \d+ out · \$0\.\d{4}/);
    expect(api?.requests[1]?.body.messages.at(-1)).toMatchObject({
      content: [expect.objectContaining({ type: "tool_result", content: expect.anything() })],
    });
  });

  it("prints each event as a line of JSON", async () => {
    const env = await model({ "List the devices": listing });
    const { code, out, err } = await labwright([...listDevices, "--json"], { env }).ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => eventSchema.parse(JSON.parse(line)));
    expect(events.filter(({ tool }) => tool).map(({ type }) => type)).toEqual(["tool_call", "tool_result"]);
    expect(events.at(-1)).toMatchObject({ type: "session_ended", outcome: "done", turns: 2 });
  });

  it("ends with 130 at Ctrl-C while the model still speaks", async () => {
    const gate = hold();
    const env = await model({ "List the devices": [held(gate, says("There is one device: box."), 3)] });
    const { child, ended } = labwright(listDevices, { env });
    await gate.reached;
    child.kill("SIGINT");
    const { code, out, err } = await ended;
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toContain("Interrupted.\n");
  });

  it("ends with 2 for a key that is refused, and never shows it", async () => {
    const env = { ...(await model({})), ANTHROPIC_API_KEY: "sk-wrong-and-secret" };
    const { code, out, err } = await labwright(listDevices, { env }).ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("API_KEY_INVALID");
    expect(err).not.toContain("sk-wrong-and-secret");
  });

  it("records what was said with the model, for no other client to read", async () => {
    const env = await model({ "List the devices": listing });
    const file = join(folder, "recorded.jsonl");
    const recorded = await labwright([...listDevices, "--record", file], { env }).ended;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(recorded).toMatchObject({ code: 0, out: "There is one device: box.\n" });
    const [exchange] = exchangesIn(readFileSync(file, "utf8"));
    expect(exchange).toMatchObject({ request: { path: "/v1/messages" }, response: { status: 200 } });
  });

  it("does without a model what a request names", async () => {
    const { code, out } = await labwright(listDevices).ended;
    expect(code).toBe(0);
    expect(out).toContain("box");
  });

  it.each([
    "run the test checkout",
    "explore the web app",
    "run it on box tomorrow",
  ])("ends with 1 when without a model nothing is done: %s", async (text) => {
    const { code, out } = await labwright(["ask", text]).ended;
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });
});

it("chats over a pipe in one conversation, which a later one goes on with", async () => {
  const env = await model({
    "List the devices": [...listing, says("Still one."), says("And still.")],
  });
  const args = ["chat", "--skill", "list-resources"];
  const first = await labwright(args, { env, stdin: "List the devices\nAnd now?\n" }).ended;
  expect(first).toMatchObject({ code: 0, out: "There is one device: box.\nStill one.\n" });
  const later = await labwright([...args, "--resume"], { env, stdin: "And now?\n" }).ended;
  expect(later).toMatchObject({ code: 0, out: "And still.\n" });
  expect(later.err).toMatch(/^Resumed .*: List the devices \(3 turns\)\.\nStill one\.\n/);
  expect(api?.requests.at(-1)?.body.messages.length).toBeGreaterThan(6);
});

describe.runIf(process.platform === "linux")("labwright chat at a real terminal", () => {
  const prompt = "> \u001b[3G";
  const args = ["chat", "--skill", "list-resources"];

  it("edits lines, keeps a history, takes a paste as one message, and leaves at Ctrl-C", async () => {
    const env = await model({
      "List the devices": [says("One device."), says("Two lines."), says("Again.")],
    });
    const { ended, sees, types } = atTerminal(args, env);
    await sees(prompt);
    types("List the devicez\u007fs\r");
    await sees("One device.\r\n");
    await sees(prompt);
    types("\u001b[200~first\nsecond\n\u001b[201~\r");
    await sees("Two lines.\r\n");
    await sees(prompt);
    types("\u001b[A\u001b[A\u001b[A\r");
    await sees("Again.\r\n");
    await sees(prompt);
    types("half a line\u0003");
    await sees(prompt);
    types("\u0003");
    expect(await ended).toBe(130);
    const said = api?.requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
    expect(said?.[1]).toContain("first\\nsecond");
    expect(said?.[2]).toContain("List the devices");
  });

  it("interrupts what runs at Ctrl-C, goes on, and leaves at Ctrl-D", async () => {
    const gate = hold();
    const env = await model({
      "List the devices": [held(gate, says("Never said."), 3), says("Still here.")],
    });
    const { ended, sees, types, screen } = atTerminal(args, env);
    await sees(prompt);
    types("List the devices\r");
    await gate.reached;
    types("typed while it runs\u0003");
    await sees("Interrupting; Ctrl-C again leaves at once.");
    await sees("Interrupted.");
    await sees(`${prompt}typed while it runs`);
    types("\r");
    await sees("Still here.");
    await sees(prompt);
    types("\u0004");
    expect(await ended).toBe(0);
    expect(screen().match(/typed while it runs/g)).toHaveLength(1);
  });

  it.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ NO_COLOR: "1" }, false],
    [{ TERM: "dumb" }, false],
  ])("with %j its colours are %s", async (env, hasColours) => {
    const { ended, sees, types, screen } = atTerminal(args, env);
    await sees("/help lists the commands.");
    await sees("> ");
    types("\u0004");
    expect(await ended).toBe(0);
    expect(screen().includes("\u001b[1mAtlas\u001b[22m")).toBe(hasColours);
  });
});

it("ends with 130 at Ctrl-C while its pipe is still open", async () => {
  const { child, written, ended } = labwright(["chat"], { stdin: null });
  await vi.waitFor(() => expect(written.err).toContain("No model is set."), { timeout: 30_000 });
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
});

it("says what is wrong with the settings, and ends with 2 before anything is asked", async () => {
  const config = join(folder, "wrong.yaml");
  writeFileSync(config, "agents: { modls: [] }\n");
  const data = join(folder, "data-wrong");
  const env = { LABWRIGHT_DATA_DIR: data };
  const { code, err } = await labwright(["ask", "--config", config, "x"], { env }).ended;
  await labwright(["stop"], { env }).ended;
  expect(code).toBe(2);
  expect(err).toMatch(/^CONFIG_INVALID: [\s\S]*modls/);
});
