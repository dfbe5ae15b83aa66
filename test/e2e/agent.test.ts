import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { io, type Socket } from "socket.io-client";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Bench, isAlive, kill, productBench, within } from "../fixtures/daemon.ts";
import { freePort } from "../fixtures/loopback.ts";
import { hold } from "../fixtures/messagesApi/gate.ts";
import { calls, held, says } from "../fixtures/messagesApi/reply.ts";
import { byConversation, type Context, type Step } from "../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { openPrograms, type Programs } from "../fixtures/program.ts";
import { hasSandbox } from "../fixtures/sandbox.ts";
import { type Site, startSite } from "../fixtures/site.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const yaml = `
server: { name: lab }
devices: [{ name: browser, model: web }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }
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

/** What a model does of the request: it takes verdict, time, report and log from the tool's result. */
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
  /^goto on lab\/browser passed in [\d.]+ s\. Report: (http:\/\/127\.0\.0\.1:\S+) Log: (http:\/\/127\.0\.0\.1:\S+)$/;
/** One run's events, without those that only count. */
const whole = [
  ...["skill_loaded", "tool_call", "tool_result", "tool_call", "tool_result", "message", "session_ended"],
];

const eventSchema = z.looseObject({
  type: z.string(),
  partial: z.boolean().optional(),
  tool: z.string().optional(),
  text: z.string().optional(),
  outcome: z.string().optional(),
});
type AgentEvent = z.output<typeof eventSchema>;
const typesOf = (events: readonly AgentEvent[]) =>
  events.filter(({ partial, type }) => !partial && type !== "progress").map(({ type }) => type);
const requestsOf = () => api?.requests ?? [];

/** The run on the wire and in its events, whichever way it was asked for. */
async function expectRun(events: readonly AgentEvent[]): Promise<void> {
  expect(typesOf(events), JSON.stringify(events.slice(-3))).toEqual(whole);
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
      "get_execution_status",
    ]);
  expect(api?.refused).toEqual([]);
  const [, report = "", log = ""] = answerPattern.exec(events.at(-1)?.text ?? "") ?? [];
  expect(await opened(report)).toMatch(/<html[\s\S]*goto/i);
  expect(await opened(log)).toContain("Second");
}

/** What a person sees who opens a link, without a token. */
const opened = async (link: string): Promise<string> => (await fetch(link)).text();

type Served = { url: string; token: string };
/** A daemon whose agents have this environment, in the place of the one before. */
async function startAgents(env: Record<string, string>, logLevel = "error"): Promise<Served> {
  await stopDaemon();
  await bench.startDaemon(["--log-level", logLevel], env);
  // The file of one that was killed is there until the next one writes its own.
  await expect.poll(() => isAlive(bench.daemon()?.pid ?? 0), within).toBe(true);
  const { port, token = "" } = bench.daemon() ?? {};
  return { url: `http://127.0.0.1:${port}`, token };
}

/** Ends when the daemon has, with every process of its own. */
async function stopDaemon(): Promise<void> {
  const pid = bench.daemon()?.pid;
  if (pid === undefined || !isAlive(pid)) return;
  const children = childrenOf(pid);
  kill(pid, "SIGTERM");
  await expect.poll(() => [pid, ...children].filter(isAlive), within).toEqual([]);
}

const logSchema = z.looseObject({ agent_session: z.string().optional(), msg: z.string() });
const answerSchema = z.object({ events: z.array(eventSchema), end: eventSchema });
async function post({ url, token }: Served, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/server/agent${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status, path).toBeLessThan(300);
  return response.json();
}
const say = async (agent: Served, id: string, text: string) =>
  answerSchema.parse(await post(agent, `/sessions/${id}/messages?wait=true`, { text }));

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
        .map((line) => eventSchema.parse(JSON.parse(line))),
    );
    expect(site.requests.filter((one) => one === "GET /second").length).toBe(before + 1);
  });

  test("by REST, and the daemon's log says what the model's cache did", async () => {
    const agent = await startAgents(await model({ [request]: runsGoto }), "info");
    const { id } = z.object({ id: z.string() }).parse(await post(agent, "/sessions", {}));
    const { events, end } = await say(agent, id, request);
    await expectRun(events);
    expect(end).toMatchObject({ outcome: "done" });
    const said = events.flatMap(({ kind, text }) => (kind === "cache" ? [text] : []));
    expect(said.join()).toMatch(/\[CACHE\] Created .*\[CACHE\] Read /);
    const log = bench.lines("logs/daemon.log").map((line) => logSchema.parse(JSON.parse(line)));
    expect(log.flatMap(({ agent_session, msg }) => (agent_session === id ? [msg] : []))).toEqual(said);
  });

  test("by Socket.IO", async () => {
    const agent = await startAgents(await model({ [request]: runsGoto }));
    const socket: Socket = io(`${agent.url}/agent`, { auth: { token: agent.token }, reconnection: false });
    const events: AgentEvent[] = [];
    socket.on("agent_event", (event: unknown) => events.push(eventSchema.parse(event)));
    expect(await socket.emitWithAck("send_message", { text: request })).toMatchObject({ ok: true });
    await expect.poll(() => events.at(-1)?.type, within).toBe("session_ended");
    socket.disconnect();
    await expectRun(events);
  });
});

test("a conversation goes on by REST with its whole history, over the death of the daemon and its next start", async () => {
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

  const one = await startAgents(env);
  expect((await say(one, id, "List the devices again")).end).toMatchObject({ text: "Still browser." });
  const dying = say(one, id, "And again").catch(() => undefined);
  await gate.reached;
  kill(bench.daemon()?.pid ?? 0, "SIGKILL");
  await dying;

  const two = await startAgents(env);
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
});

test("a daemon that is stopped in the middle of an agent's call stops it, gives the device back, and leaves the conversation to the next", async () => {
  const text = "Take control of the device browser";
  const go = { command: "navigate_to_url", params: { url: `${site.url}/never` } };
  const env = await model({
    [text]: [
      calls("take_control", { device_id: "browser" }),
      calls("execute_device_action", { device_id: "browser", actions: [go] }),
      says("It was stopped."),
    ],
  });
  const agent = await startAgents(env);
  const { id } = z.object({ id: z.string() }).parse(await post(agent, "/sessions", {}));
  await post(agent, `/sessions/${id}/messages`, { text, skill: "control-device" });
  await site.waiting();
  await stopDaemon();
  const host = await bench.host("another");
  await expect
    .poll(async () => (await host.call("take_control", { device_id: "browser" })).error, within)
    .toBeUndefined();
  await host.close();
  const { code, out, err } = await programs.start("ask", ["--resume", id, "Press nothing, what was it?"], env)
    .ended;
  expect({ code, out, err }).toMatchObject({ code: 0, out: "It was stopped.\n" });
  expect(JSON.stringify(requestsOf().at(-1)?.body.messages)).toMatch(/CANCELLED|NOT_ANSWERED/);
  expect(api?.refused).toEqual([]);
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
    const { code, out, err } = await ask(await model({}), "--model", "claude-unknown-1");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/MODEL_NOT_FOUND: .*claude-unknown-1\.\n.*DEFAULT_MODEL/);
  });

  test("ends with 2 when the endpoint is down, and says where to look", async () => {
    const port = await freePort();
    const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: testKey };
    const { code, out, err } = await ask(env);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/MODEL_FAILED: .* cannot be reached[\s\S]*ANTHROPIC_BASE_URL/);
  });
});
