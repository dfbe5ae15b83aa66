import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { io, type Socket } from "socket.io-client";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Bench, isAlive, kill, productBench, within } from "../fixtures/daemon.ts";
import { hold } from "../fixtures/messagesApi/gate.ts";
import { calls, held, says } from "../fixtures/messagesApi/reply.ts";
import { byConversation, type Context, type Step } from "../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { openPrograms, type Program, type Programs } from "../fixtures/program.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { type Site, startSite } from "../fixtures/site.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const yaml = `
server: { name: lab }
devices: [{ name: browser, model: web }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }
agents: { api: { port: 0 } }
`;

let bench: Bench;
let programs: Programs;
let site: Site;
let api: MessagesApi | undefined;
beforeAll(async () => {
  site = await startSite();
  bench = productBench();
  programs = openPrograms(bench.dataDir);
  writeFileSync(join(bench.dataDir, "labwright.yaml"), yaml);
  const host = await bench.host();
  const { error } = await host.call("import_userinterface", { yaml: app() });
  expect(error).toBeUndefined();
  await host.close();
});
afterEach(async () => {
  await programs.end();
  await api?.close();
  api = undefined;
});
afterAll(async () => {
  await bench.end();
  await site.close();
});

const shows = (text: string) => ({ command: "text_visible", params: { text } });
const click = (name: string) => ({
  command: "click_element",
  params: { selector: `role=link[name="${name}"]` },
});
/** Two pages of the test site that link to each other. */
const app = () =>
  JSON.stringify({
    format_version: 1,
    name: "shop",
    models: ["web"],
    tree: {
      nodes: [
        { label: "Entry", type: "entry" },
        { label: "Start", verifications: [shows("Query")] },
        { label: "Second", verifications: [shows("Second page")] },
      ],
      edges: [
        {
          source: "Entry",
          target: "Start",
          action_sets: [{ actions: [{ command: "navigate_to_url", params: { url: `${site.url}/` } }] }],
        },
        {
          source: "Start",
          target: "Second",
          action_sets: [
            { actions: [click("Second page")] },
            { direction: "reverse", actions: [click("Back to start")] },
          ],
        },
      ],
    },
  });

/** Starts a model that says this; gives the environment that leads there. */
async function model(scripts: Record<string, readonly Step[]>): Promise<Record<string, string>> {
  api = await startMessagesApi({ respond: byConversation(scripts) });
  return { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: testKey };
}

const request = "Run goto script on browser";
const textOf = ({ results }: Context): string =>
  results
    .flatMap(({ content = [] }) =>
      typeof content === "string"
        ? [content]
        : content.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    )
    .join("\n");
const read = (context: Context, pattern: RegExp): string => {
  const [, found] = pattern.exec(textOf(context)) ?? [];
  if (found === undefined) throw new Error(`${pattern} is not in: ${textOf(context)}`);
  return found;
};

/** What a model does of the request: it takes verdict, time, report and log from what the tool told it. */
const runsGoto: readonly Step[] = [
  calls("get_compatible_hosts", { userinterface_name: "shop" }),
  (_, context) =>
    calls("execute_script", {
      script: "goto",
      args: ["Second"],
      device_id: read(context, /(lab\/browser)/),
      userinterface_name: "shop",
      wait_ms: 100_000,
    }),
  (_, context) => {
    const [verdict, ms] = [read(context, /status: (\w+)/), read(context, /duration_ms: (\d+)/)];
    const [report, log] = [read(context, /report\.html: (\S+)/), read(context, /log\.txt: (\S+)/)];
    return says(`goto on lab/browser ${verdict} in ${Number(ms) / 1_000} s. Report: ${report} Log: ${log}`);
  },
];
const answerPattern =
  /^goto on lab\/browser passed in [\d.]+ s\. Report: artifact:\/\/(\w{64}) Log: artifact:\/\/(\w{64})$/;
/** One run's events, without those that only count. */
const whole = [
  ...["skill_loaded", "tool_call", "tool_result", "tool_call", "tool_result", "message", "session_ended"],
];

const told = z.looseObject({
  type: z.string(),
  partial: z.boolean().optional(),
  tool: z.string().optional(),
  text: z.string().optional(),
  outcome: z.string().optional(),
});
type Told = z.output<typeof told>;
const typesOf = (events: readonly Told[]) =>
  events.filter(({ partial, type }) => !partial && type !== "progress").map(({ type }) => type);
const requestsOf = () => api?.requests ?? [];

/** The run on the wire and in what was told of it, whichever way it was asked for. */
async function expectRun(events: readonly Told[]): Promise<void> {
  expect(typesOf(events)).toEqual(whole);
  expect(events.find(({ type }) => type === "skill_loaded")).toMatchObject({
    skill: "run-script",
    text: "LOAD SKILL run-script",
  });
  expect(events.flatMap(({ type, tool }) => (type === "tool_call" ? [tool] : []))).toEqual([
    "get_compatible_hosts",
    "execute_script",
  ]);
  expect(events.filter(({ is_error }) => is_error)).toEqual([]);
  expect(events.at(-1)).toMatchObject({ outcome: "done", text: expect.stringMatching(answerPattern) });
  expect(requestsOf()).toHaveLength(3);
  for (const { body } of requestsOf())
    expect(body.tools?.map(({ name }) => name).toSorted()).toEqual([
      "execute_script",
      "get_compatible_hosts",
    ]);
  expect(api?.refused).toEqual([]);
  const [, report = "", log = ""] = answerPattern.exec(events.at(-1)?.text ?? "") ?? [];
  expect(await artifact(report)).toMatch(/<html[\s\S]*goto/i);
  expect(await artifact(log)).toContain("Second");
}

async function artifact(sha256: string): Promise<string> {
  const { port, token } = bench.daemon() ?? {};
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`http://127.0.0.1:${port}/api/v1/artifacts/${sha256}`, { headers })).text();
}

type AgentProcess = { program: Program; url: string; token: string };
/** `labwright agent`, until it serves. */
async function startAgent(env: Record<string, string>, args: readonly string[] = []): Promise<AgentProcess> {
  const program = programs.start("agent", args, env);
  await vi.waitFor(() => {
    if (!/^(at work|autonomous agents): /m.test(program.written.out))
      throw new Error(`not yet: ${program.written.err}`);
  }, within);
  const [, url = ""] = /^(\S+)\/server\/agent /.exec(program.written.out) ?? [];
  return { program, url, token: bench.daemon()?.token ?? "" };
}

const answerSchema = z.object({ events: z.array(told), end: told });
async function post({ url, token }: AgentProcess, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/server/agent${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status, path).toBeLessThan(300);
  return response.json();
}
const say = async (agent: AgentProcess, id: string, text: string) =>
  answerSchema.parse(await post(agent, `/sessions/${id}/messages?wait=true`, { text }));

/** Ends when the process does. */
async function terminate({ program }: AgentProcess): Promise<void> {
  // The daemon that it may have started is everybody's, and ends by itself.
  const children = childrenOf(program.pid).filter((pid) => pid !== bench.daemon()?.pid);
  program.signal("SIGTERM");
  expect(await program.ended).toMatchObject({ code: 0 });
  expect(children.filter(isAlive)).toEqual([]);
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

describe.runIf(hasSandbox)(`"${request}" does the same`, () => {
  test("by labwright ask", async () => {
    const env = await model({ [request]: runsGoto });
    const before = site.requests.filter((one) => one === "GET /second").length;
    const { code, out, err } = await programs.start("ask", ["--json", request], env).ended;
    expect({ code, err }, out).toEqual({ code: 0, err: "" });
    await expectRun(
      out
        .trimEnd()
        .split("\n")
        .map((line) => told.parse(JSON.parse(line))),
    );
    expect(site.requests.filter((one) => one === "GET /second").length).toBe(before + 1);
  });

  test("by REST of labwright agent", async () => {
    const agent = await startAgent(await model({ [request]: runsGoto }));
    const { id } = z.object({ id: z.string() }).parse(await post(agent, "/sessions", {}));
    const { events, end } = await say(agent, id, request);
    await expectRun(events);
    expect(end).toMatchObject({ outcome: "done" });
    await terminate(agent);
  });

  test("by Socket.IO of labwright agent", async () => {
    const agent = await startAgent(await model({ [request]: runsGoto }));
    const socket: Socket = io(`${agent.url}/agent`, { auth: { token: agent.token }, reconnection: false });
    const events: Told[] = [];
    socket.on("agent_event", (event: unknown) => events.push(told.parse(event)));
    expect(await socket.emitWithAck("send_message", { text: request })).toMatchObject({ ok: true });
    await expect.poll(() => events.at(-1)?.type, within).toBe("session_ended");
    socket.disconnect();
    await expectRun(events);
    await terminate(agent);
  });
});

test("a conversation goes on by REST with its whole history, over the death of the agent and its next start", async () => {
  const first = "List the devices of the lab";
  const gate = hold();
  const env = await model({
    [first]: [
      calls("list_hosts"),
      says("There is browser."),
      says("Still browser."),
      held(gate, says("never said")),
      says("And browser again."),
    ],
  });
  const asked = programs.start("ask", ["--skill", "list-resources", first], env);
  expect(await asked.ended).toMatchObject({ code: 0, out: "There is browser.\n" });
  const [, id = ""] = /labwright ask --resume (\S+)/.exec(asked.written.err) ?? [];

  const one = await startAgent(env);
  expect((await say(one, id, "List the devices again")).end).toMatchObject({ text: "Still browser." });
  const dying = say(one, id, "And again").catch(() => undefined);
  await gate.reached;
  one.program.signal("SIGKILL");
  await Promise.all([one.program.ended, dying]);

  const two = await startAgent(env);
  // Who died keeps the conversation until its time is over.
  const headers = { authorization: `Bearer ${two.token}` };
  const events = await fetch(`${two.url}/server/agent/sessions/${id}/events`, { headers });
  expect(JSON.stringify(await events.json())).toContain("Still browser.");
  // An agent takes only so many messages a minute, and a refused one counts too.
  const seldom = { ...within, interval: 1_000 };
  const end = await vi.waitFor(async () => (await say(two, id, "List the devices again")).end, seldom);
  expect(end).toMatchObject({ outcome: "done", text: "And browser again." });
  const last = requestsOf().at(-1)?.body.messages ?? [];
  expect(last.map(({ role }) => role).join(" ")).toMatch(
    /^user assistant user assistant user assistant user/,
  );
  const said = JSON.stringify(last);
  for (const text of [first, "There is browser.", "Still browser.", "And again", '"tool_result"'])
    expect(said).toContain(text);
  expect(api?.refused).toEqual([]);
  await terminate(two);
});

test("an agent that is told to end in the middle of a call stops it, gives the device back, and leaves the conversation to the next", async () => {
  const text = "Take control of the device browser";
  const go = { command: "navigate_to_url", params: { url: `${site.url}/never` } };
  const env = await model({
    [text]: [
      calls("take_control", { device_id: "browser" }),
      calls("execute_device_action", { device_id: "browser", actions: [go] }),
      says("It was stopped."),
    ],
  });
  const agent = await startAgent(env);
  const { id } = z.object({ id: z.string() }).parse(await post(agent, "/sessions", {}));
  await post(agent, `/sessions/${id}/messages`, { text, skill: "control-device" });
  await site.waiting();
  await terminate(agent);
  const host = await bench.host("another");
  await expect
    .poll(async () => (await host.call("take_control", { device_id: "browser" })).isError, within)
    .toBe(false);
  await host.close();
  const { code, out, err } = await programs.start("ask", ["--resume", id, "Press nothing, what was it?"], env)
    .ended;
  expect({ code, out, err }).toMatchObject({ code: 0, out: "It was stopped.\n" });
  expect(JSON.stringify(requestsOf().at(-1)?.body.messages)).toMatch(/CANCELLED|NOT_ANSWERED/);
  expect(api?.refused).toEqual([]);
});

test.each([
  ["an agent with nothing to do", ["--no-autonomous"]],
  ["an agent at work", []],
])("%s serves on when the daemon is killed, and takes the token of the next one", async (_, args) => {
  const text = `List the devices, please: ${args.length}`;
  const steps = [calls("list_hosts"), says("One."), calls("list_hosts"), says("Two.")];
  const agent = await startAgent(await model({ [text]: steps }), args);
  const { id } = z.object({ id: z.string() }).parse(await post(agent, "/sessions", {}));
  const skill = "list-resources";
  await post(agent, `/sessions/${id}/messages?wait=true`, { text, skill });
  const before = bench.daemon()?.pid ?? 0;
  kill(before, "SIGKILL");
  await expect.poll(() => isAlive(before), within).toBe(false);
  // Somebody else needs a daemon first, and starts the next.
  const host = await bench.host("another");
  await host.call("list_hosts");
  await host.close();
  expect(bench.daemon()?.pid).not.toBe(before);
  agent.token = bench.daemon()?.token ?? "";
  const headers = { authorization: `Bearer ${agent.token}` };
  const status = async () => (await fetch(`${agent.url}/server/agent/sessions`, { headers })).status;
  await expect.poll(status, within).toBe(200);
  const path = `/sessions/${id}/messages?wait=true`;
  const { end } = answerSchema.parse(await post(agent, path, { text: "Again", skill }));
  expect(end).toMatchObject({ outcome: "done", text: "Two." });
  await terminate(agent);
});

describe("labwright ask, when no model answers,", () => {
  const ask = (env: Record<string, string>, ...more: string[]) =>
    programs.start("ask", ["--skill", "list-resources", ...more, "List the devices"], env).ended;

  test("ends with 2 for a wrong key, and shows it nowhere", async () => {
    const key = "sk-ant-wrong-and-secret";
    const { code, out, err } = await ask({ ...(await model({})), ANTHROPIC_API_KEY: key });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/API_KEY_INVALID: .*refused\.\n.*ANTHROPIC_API_KEY/);
    expect(err).not.toContain(key);
  });

  test("does what can be done without one when there is no key", async () => {
    const { code, out, err } = await ask({});
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toContain("browser");
  });

  test("ends with 2 for a model that there is not, and says what to set", async () => {
    const { code, out, err } = await ask(await model({}), "--model", "claude-nobody-1");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/MODEL_NOT_FOUND: .*claude-nobody-1\.\n.*DEFAULT_MODEL/);
  });

  test("ends with 2 when the endpoint is down, and says where to look", async () => {
    const port = await closedPort();
    const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: testKey };
    const { code, out, err } = await ask(env);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/MODEL_FAILED: .* cannot be reached[\s\S]*ANTHROPIC_BASE_URL/);
  });
});

/** A port that nobody listens on. */
function closedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
