import { createServer } from "node:http";
import { systemClock } from "@labwright/agent-client";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import { allAgents, allSkills, openTalk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { closeServer, listenOnLoopback } from "../../fixtures/loopback.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { calls, drives, says, together } from "../../fixtures/messagesApi/reply.ts";
import type { ToolResultBlock } from "../../fixtures/messagesApi/request.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";
import { toolsOf } from "../sessions/talk.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Larger than a picture may be, so that what the model sees is a smaller one. A red square of 6 pixels is the target. */
const view = { width: 2_000, height: 1_100 };
const target = { x: 1_503, y: 907, side: 6 };
const page = `<!doctype html><title>Game</title><body style="margin:0"><canvas id=c width=2000 height=1050></canvas>
<p id=said>Nothing yet</p><script>
  const pen = c.getContext("2d");
  pen.fillStyle = "#f00";
  pen.fillRect(${target.x}, ${target.y}, ${target.side}, ${target.side});
  const say = (words) => { said.textContent = words; };
  let pressed;
  const place = (e) => e.offsetX + "," + e.offsetY;
  c.onmousedown = (e) => { pressed = place(e); };
  c.onclick = (e) => {
    const isIn = (at, from) => at >= from && at < from + ${target.side};
    say((isIn(e.offsetX, ${target.x}) && isIn(e.offsetY, ${target.y}) ? "Hit" : "Missed") + " at " + place(e));
  };
  c.ondblclick = (e) => say("Doubled");
  c.onmouseup = (e) => { if (pressed !== place(e)) setTimeout(() => say("Dragged from " + pressed + " to " + place(e))); };
  c.onwheel = (e) => say("Turned " + e.deltaX + "," + e.deltaY);
  onkeydown = (e) => say("Key " + (e.ctrlKey ? "Control+" : "") + e.key);
</script>`;

const site = createServer((_, response) =>
  response.writeHead(200, { "content-type": "text/html" }).end(page),
);
let url: string;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(site)}/`;
  product = await openProduct(
    `devices: [{ name: browser, model: web, controllers: { web: { viewport: ${JSON.stringify(view)} } } }]
url_policy: { deny: ["other.test"] }`,
    { WORD: "hunter2-of-the-bank" },
  );
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await closeServer(site);
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await client.call("release_control", { device_id: "browser" });
});

const driveRequest = { text: "Hit the red square on browser", skill: "control-device" };
const judgeRequest = { text: "Was it hit on browser?", skill: "verify-screen" };

async function talkWith(
  steps: readonly Step[],
  given: { toolsets?: string; approvals?: readonly string[]; model?: string } = {},
) {
  const api = await startMessagesApi({ respond: script(steps) });
  open.push(api);
  const toolbox = mcpToolbox({
    connect: async () => client.client,
    isLost: () => false,
    silentMs: () => 60_000,
  });
  const server = { toolbox, skills: async () => allSkills, store: memoryStore(systemClock) };
  const agents = allAgents.map((agent) => ({ ...agent, approvals: [...(given.approvals ?? [])] }));
  const settings = { toolsets: given.toolsets ?? "browser", approval_timeout_seconds: 1 };
  const { conversations } = openTalk(server, modelsAt(api.url, given.model ? { model: given.model } : {}), {
    settings,
    agents,
  });
  open.push(conversations);
  async function say(message: typeof driveRequest, known?: string) {
    const id = known ?? (await conversations.create({ owner: "anna" })).id;
    await conversations.send(id, "anna", message);
    const ended = await conversations.ended(id, "anna");
    return { id, ended, events: await conversations.events(id, "anna", { after: 0 }) };
  }
  return { conversations, say, api };
}

/** The blocks of the last results, by their type. */
const textsOf = (results: readonly ToolResultBlock[]) =>
  results.flatMap(({ content = [] }) =>
    typeof content === "string"
      ? [content]
      : content.flatMap((one) => (one.type === "text" ? [one.text] : [])),
  );
const resultsIn = (api: MessagesApi) =>
  (api.requests.at(-1)?.body.messages ?? []).flatMap(({ content }) =>
    typeof content === "string" ? [] : content.flatMap((one) => (one.type === "tool_result" ? [one] : [])),
  );

/** What the model sees: the middle of what is red in the picture. */
async function redIn(results: readonly ToolResultBlock[]) {
  const [image] = results.flatMap(({ content = [] }) =>
    typeof content === "string" ? [] : content.flatMap((one) => (one.type === "image" ? [one] : [])),
  );
  if (image?.source.type !== "base64")
    throw new Error(`no picture in ${JSON.stringify(results).slice(0, 500)}`);
  const { data, info } = await sharp(Buffer.from(image.source.data, "base64"))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const red: { x: number; y: number }[] = [];
  for (let at = 0; at < data.length; at += 3)
    if ((data[at] ?? 0) > 180 && (data[at + 1] ?? 255) < 140)
      red.push({ x: (at / 3) % info.width, y: Math.floor(at / 3 / info.width) });
  const mean = (of: "x" | "y") => Math.round(red.reduce((sum, one) => sum + one[of], 0) / red.length);
  return { x: mean("x"), y: mean("y"), width: info.width, height: info.height };
}

/** What a tester asks for then: our check judges, by another skill. */
const judged = (text: string): Step[] => [
  calls("verify_device_state", {
    device_id: "browser",
    checks: [{ command: "text_visible", params: { text } }],
  }),
  says("It is so."),
];
const verdictIn = (api: MessagesApi) => textsOf(resultsIn(api).slice(-1)).join("\n");

test.each([
  "browser",
  "computer",
] as const)("a canvas is driven by pictures through the %s toolset, and our check judges", async (family) => {
  const go =
    family === "browser"
      ? drives("browser", "navigate", { url })
      : calls("execute_device_action", {
          device_id: "browser",
          actions: [{ command: "navigate_to_url", params: { url } }],
        });
  const seen: { width: number; height: number }[] = [];
  const { say, api } = await talkWith(
    [
      go,
      drives(family, "screenshot"),
      async (_, { results }) => {
        const { x, y, ...size } = await redIn(results);
        seen.push(size);
        return family === "browser"
          ? drives("browser", "left_click", { target: { type: "coordinate", x, y } })
          : drives("computer", "left_click", { coordinate: [x, y] });
      },
      says("I hit it."),
      ...judged("Hit at"),
    ],
    { toolsets: family },
  );
  const { id, ended, events } = await say(driveRequest);
  expect(api.refused).toEqual([]);
  expect(ended, JSON.stringify(events.slice(-4))).toMatchObject({ outcome: "done" });
  const [first] = api.requests;
  expect(first?.body.tools?.map((tool) => tool.name ?? tool.type)).toEqual([
    // With the tool to wait for what it starts.
    ...[...toolsOf("control-device"), "get_execution_status"].sort(),
    `${family}_toolset_20260801`,
  ]);
  expect(seen[0]?.width, "a smaller picture than the page").toBeLessThan(view.width);
  const called = events.flatMap((event) => (event.type === "tool_call" ? [event.tool] : []));
  expect(called).toContain("capture_screenshot");
  expect(called.at(-1)).toBe("execute_device_action");
  const after = await say(judgeRequest, id);
  expect(after.ended).toMatchObject({ outcome: "done" });
  expect(api.refused).toEqual([]);
  expect(verdictIn(api)).toMatch(/pass: true/);
});

test("what the model says of a miss makes no verdict", async () => {
  const { say, api } = await talkWith([
    drives("browser", "navigate", { url }),
    drives("browser", "screenshot"),
    drives("browser", "left_click", { target: { type: "coordinate", x: 3, y: 4 } }),
    says("I hit it: the test passed."),
    ...judged("Hit at"),
  ]);
  const { id } = await say(driveRequest);
  await say(judgeRequest, id);
  expect(verdictIn(api)).toMatch(/pass: false/);
});

test("double clicks, drags, wheels, keys and refs reach the page", async () => {
  const at = (x: number, y: number) => ({ type: "coordinate", x, y });
  const states: string[] = [];
  const acts = [
    drives("browser", "double_click", { target: at(100, 100) }),
    drives("browser", "left_click_drag", { from: at(10, 20), target: at(110, 220) }),
    drives("browser", "scroll", { target: at(100, 100), scroll_direction: "down", scroll_amount: 2 }),
    drives("browser", "key", { text: "ctrl+Left" }),
    drives("browser", "zoom", { region: [0, 0, 100, 100] }),
    drives("browser", "find", { query: "Nothing" }),
    drives("browser", "read_page", { filter: "interactive" }),
    drives("browser", "hover", { target: at(5, 5) }),
    drives("browser", "wait", { duration: 0 }),
    drives("browser", "navigate", { url: "reload" }),
  ];
  const { say, api } = await talkWith([
    drives("browser", "navigate", { url }),
    drives("browser", "screenshot"),
    ...acts,
    (_, { results }) => {
      states.push(JSON.stringify(results));
      return says("Done.");
    },
  ]);
  const { ended } = await say(driveRequest);
  expect(api.refused).toEqual([]);
  expect(ended).toMatchObject({ outcome: "done" });
  const texts = textsOf(resultsIn(api)).join("\n");
  expect(texts).toContain("Doubled");
  expect(texts).toMatch(/Dragged from \d+,\d+ to \d+,\d+/);
  expect(texts).toContain("Turned 0,200");
  expect(texts).toContain("Key Control+ArrowLeft");
  expect(texts).toContain(`Navigated to ${url}`);
  expect(states[0]).toContain('"browser_state"');
  expect(states[0]).toContain('"title":"Game"');
  expect(resultsIn(api).filter(({ is_error }) => is_error)).toEqual([]);
});

test("what does not fit is refused with what to do, and the next action of the turn is not done", async () => {
  const click = (target: object, more = {}) => drives("browser", "left_click", { target, ...more });
  const { say, api } = await talkWith([
    drives("browser", "navigate", { url }),
    click({ type: "coordinate", x: 1, y: 1 }),
    drives("browser", "screenshot"),
    together(click({ type: "coordinate", x: 5_000, y: 1 }), click({ type: "coordinate", x: 1, y: 1 })),
    click({ type: "coordinate" }),
    click({ type: "coordinate", x: 1, y: 1 }, { modifiers: "shift" }),
    click({ type: "coordinate", x: 1, y: 1 }, { tab_id: "7" }),
    drives("browser", "key", { text: "Entre" }),
    drives("browser", "wait", { duration: 900 }),
    drives("browser", "fly", {}),
    drives("browser", "javascript_exec", { code: "1" }),
    says("Done."),
  ]);
  const { ended } = await say(driveRequest);
  expect(ended).toMatchObject({ outcome: "done" });
  expect(api.refused).toEqual([]);
  const failures = textsOf(resultsIn(api).filter(({ is_error }) => is_error));
  expect(failures).toEqual([
    expect.stringContaining("Take one first"),
    expect.stringMatching(/5000, 1 is not in the picture, which is \d+ x \d+ pixels/),
    expect.stringContaining("Not executed"),
    expect.stringContaining("undefined, undefined is not in the picture"),
    expect.stringContaining("no key can be held"),
    expect.stringContaining("tab 0 is the active one"),
    expect.stringMatching(/INVALID_PARAMS.*Nearest: .*Enter/s),
    expect.stringContaining("0 to 30 seconds"),
    expect.stringContaining("unknown browser toolset member 'fly'"),
    expect.stringContaining("not available"),
  ]);
});

test("a denied address, and a device that another holds, are refused with our codes, and the model is told", async () => {
  const other = await product.connect({ client: "bob" });
  await client.call("release_control", { device_id: "browser" });
  const { say, api } = await talkWith([
    drives("browser", "navigate", { url: "http://other.test/" }),
    async () => {
      await client.call("release_control", { device_id: "browser" });
      await other.call("take_control", { device_id: "browser", force: true });
      return drives("browser", "navigate", { url });
    },
    says("Not mine."),
  ]);
  const { ended } = await say(driveRequest);
  await other.call("release_control", { device_id: "browser" });
  expect(ended).toMatchObject({ outcome: "done" });
  const [denied, held] = textsOf(resultsIn(api).filter(({ is_error }) => is_error));
  expect(denied).toContain("URL_DENIED");
  expect(held).toContain("DEVICE_HELD");
});

test("a click that must be approved is asked for, and refused when nobody answers", async () => {
  const { conversations, api } = await talkWith(
    [
      drives("browser", "navigate", { url }),
      drives("browser", "screenshot"),
      drives("browser", "left_click", { target: { type: "coordinate", x: 3, y: 4 } }),
      says("Left alone."),
    ],
    { approvals: ["execute_device_action:tap_x_y"] },
  );
  const { id } = await conversations.create({ owner: "anna" });
  await conversations.send(id, "anna", driveRequest);
  await expect
    .poll(async () => (await conversations.get(id, "anna")).approvals, { timeout: 30_000 })
    .toHaveLength(1);
  const [approval] = (await conversations.get(id, "anna")).approvals;
  expect(approval).toMatchObject({ tool: "execute_device_action" });
  expect(await conversations.ended(id, "anna")).toMatchObject({ outcome: "done" });
  expect(textsOf(resultsIn(api).filter(({ is_error }) => is_error))).toEqual([
    expect.stringContaining("NOT_APPROVED"),
  ]);
});

test("a model that does not take the toolset is named before anything is asked", async () => {
  const { say, api } = await talkWith([], { model: "claude-haiku-4-5" });
  const { ended } = await say(driveRequest);
  expect(ended).toMatchObject({ outcome: "failed", error: { code: "CONFIG_INVALID" } });
  expect(api.requests).toEqual([]);
});

test("without the setting no toolset is sent", async () => {
  const { say, api } = await talkWith([says("Hello.")], { toolsets: "off" });
  await say(driveRequest);
  expect(api.requests[0]?.body.tools?.every(({ name }) => name !== undefined)).toBe(true);
});
