import { join } from "node:path";
import priceFile from "../../agent-client/src/model/models.json" with { type: "json" };
import type { SeenRequest } from "../fixtures/messagesApi/messages.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import { blocksOf, type MessagesRequest } from "../fixtures/messagesApi/request.ts";
import { type Respond, type Step, script } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { fetchProgram } from "../interop/fetchProgram.ts";
import { saveApp } from "./agentApp.ts";
import { startAgentSide } from "./agentSide.ts";
import { startNodeRed } from "./nodeRed.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { ListedTool } from "./stdioServer.ts";
import { withoutDialect } from "./surface.ts";

const turns = 10;
/** What a model may think in a turn. No stand-in can measure it. */
const assumedThinking = 300;

type Price = (typeof priceFile.models)[number]["price"];

type Given = { sides: Sides; url(path: string): string; note(line: string): void };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const inputOf = ({ usage }: SeenRequest): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
/** US dollars for a million such requests. */
const inputCost = ({ usage }: SeenRequest, { input, cache_write, cache_read }: Price): number =>
  input * usage.input_tokens +
  cache_write * usage.cache_creation_input_tokens +
  cache_read * usage.cache_read_input_tokens;

/** Several messages of one conversation with a real daemon and real tools, and what the model's stand-in was sent. */
async function converse(
  { sides, url }: Given,
  given: { model?: string; steps: readonly Step[]; messages: readonly { text: string; skill?: string }[] },
): Promise<{ requests: readonly SeenRequest[]; tools: readonly ListedTool[] }> {
  const api = await startMessagesApi({ respond: script(given.steps) });
  const prepare = (host: Parameters<typeof saveApp>[0]) => saveApp(host, url);
  const side = await startAgentSide(sides, {
    ...{ api: api.url, prepare },
    ...(given.model !== undefined && { model: given.model }),
  });
  try {
    const session = await side.open();
    for (const { text, skill } of given.messages) await side.say(session, text, skill);
    if (api.refused.length > 0) throw new Error(`refused: ${api.refused[0]?.message}`);
    return { requests: [...api.requests], tools: side.tools };
  } finally {
    await side.close();
    await api.close();
  }
}

/** The same requests with these tools in place of their own, sent again with the same marks for the cache. */
async function sentWith(
  requests: readonly SeenRequest[],
  tools: readonly ListedTool[],
): Promise<readonly SeenRequest[]> {
  const offered = tools.map(({ name, description, inputSchema }) => ({
    ...{ name, description },
    input_schema: { ...withoutDialect(inputSchema), type: "object" },
  }));
  const api = await startMessagesApi({ respond: () => says("ok") });
  try {
    for (const { body, headers } of requests) {
      const response = await fetch(`${api.url}/v1/messages`, {
        method: "POST",
        headers: {
          ...{ "content-type": "application/json", "x-api-key": testKey },
          "anthropic-version": headers["anthropic-version"] ?? "",
          ...(headers["anthropic-beta"] && { "anthropic-beta": headers["anthropic-beta"] }),
        },
        body: JSON.stringify({ ...body, messages: withoutThinking(body.messages), tools: offered }),
      });
      const answer = await response.text();
      if (!response.ok) throw new Error(`with other tools: ${answer}`);
    }
    return [...api.requests];
  } finally {
    await api.close();
  }
}

/** Thinking is bound to the tools that it was made with. */
const withoutThinking = (messages: MessagesRequest["messages"]) =>
  messages.map((message) => ({
    ...message,
    content: blocksOf(message).filter(({ type }) => type !== "thinking"),
  }));

const seedTurns = {
  run_script: { text: "Run the script goto on lab/browser", call: goto() },
  run_testcase: {
    text: "Run the test case login_basic on lab/browser",
    call: calls("execute_testcase", { testcase: "login_basic", device_id: "lab/browser", wait_ms: 60_000 }),
  },
  list_resources: {
    text: "List all test cases and scripts that there are",
    call: calls("list_scripts", {}),
  },
};

function goto() {
  return calls("execute_script", {
    ...{ script: "goto", args: ["Reached"], device_id: "lab/browser" },
    ...{ userinterface_name: "shop", wait_ms: 60_000 },
  });
}

/** The largest request of a message with its visible output, for the three messages that seed 000 counts. */
async function measureSeedTurns(given: Given): Promise<Measurement[]> {
  const found: Measurement[] = [];
  for (const [id, { text, call }] of Object.entries(seedTurns)) {
    const { requests } = await converse(given, { steps: [call, says("It passed.")], messages: [{ text }] });
    const turnTokens = requests.map((one) => inputOf(one) + one.usage.output_tokens);
    found.push({ id: `agent.${id}`, ours: Math.max(...turnTokens), runs: requests.length });
  }
  given.note(
    `agent: thinking is not measured; with ${assumedThinking} tokens a turn, assumed, each of these turns has as many more`,
  );
  return found;
}

/** A script is run, then asked for by its id: what it answers is what the daemon has. */
function tenTurns(): Respond {
  let turn = 0;
  let execution: string | undefined;
  return (_, { results }) => {
    turn += 1;
    execution ??= /"?execution_id"?: "?([\w-]+)/.exec(JSON.stringify(results).replaceAll("\\", ""))?.[1];
    if (turn === turns) return says("goto passed on lab/browser. The browser shows the screen Reached.");
    if (turn === 1) return calls("get_compatible_hosts", { userinterface_name: "shop" });
    return execution === undefined ? goto() : calls("execute_script", { execution_id: execution });
  };
}

async function measureTenTurns(given: Given): Promise<Measurement[]> {
  const { models } = priceFile;
  const others = await otherTools(given);
  const price = (id: string) => models.find(({ model }) => model === id)?.price;
  const costs = async (model?: string) => {
    const respond = tenTurns();
    const { requests, tools } = await converse(given, {
      ...(model !== undefined && { model }),
      steps: Array.from({ length: turns }, () => respond),
      messages: [{ text: "Run the script goto on lab/browser and watch it to its end", skill: "run-script" }],
    });
    const used = requests[0]?.body.model ?? "";
    const paid = price(used);
    if (requests.length !== turns || !paid) throw new Error(`${requests.length} turns of ${used}`);
    const output = sum(requests.map(({ usage }) => paid.output * usage.output_tokens));
    const cost = (sent: readonly SeenRequest[]) =>
      (sum(sent.map((one) => inputCost(one, paid))) + output) / 1e6;
    const [all, theirs] = [await sentWith(requests, tools), await sentWith(requests, others)];
    const cached = sum(requests.map(({ usage }) => usage.cache_read_input_tokens));
    return { model: used, ours: cost(requests), all: cost(all), theirs: cost(theirs), cached };
  };
  const usual = await costs();
  const rows = [usual];
  for (const { model } of models) if (model !== usual.model) rows.push(await costs(model));
  for (const { model, ours, all, cached } of rows)
    given.note(
      `agent: ten turns, ${model}: $${ours.toFixed(4)} with the skill's tools${cached === 0 ? " (below the model's floor: nothing cached)" : ""}, $${all.toFixed(4)} with all tools, ${(ours / all).toFixed(3)}`,
    );
  const worst = rows.reduce((one, other) => (one.ours / one.all > other.ours / other.all ? one : other));
  given.note(`agent: ten turns: the worst is ${worst.model}, ${(worst.ours / worst.all).toFixed(3)}`);
  return [
    { id: "agent.ten_turns", ours: usual.ours, theirs: usual.all, runs: turns },
    { id: "agent.others", ours: usual.ours, theirs: usual.theirs, runs: turns },
  ];
}

/** Looks at a dense editor three times, and opens a menu of it. */
async function measureExploration(given: Given): Promise<Measurement> {
  const app = await startNodeRed(given.sides.root, given.sides.scratch);
  const device_id = "lab/browser";
  const act = (command: string, params: object) =>
    calls("execute_device_action", { device_id, actions: [{ command, params }] });
  const dump = calls("dump_ui_elements", { device_id });
  try {
    const { requests, tools } = await converse(given, {
      steps: [
        calls("take_control", { device_id }),
        act("navigate_to_url", { url: app.url }),
        dump,
        act("click_element", { selector: "#red-ui-header-button-sidemenu" }),
        dump,
        act("press_key", { key: "Escape" }),
        dump,
        calls("release_control", { device_id }),
        says("The editor has a palette, a canvas and a side bar."),
      ],
      messages: [{ text: `Explore the website ${app.url} in lab/browser`, skill: "explore-web" }],
    });
    const all = await sentWith(requests, tools);
    return {
      id: "agent.explore_web",
      ours: Math.max(...requests.map((one) => inputOf(one) + one.usage.output_tokens)),
      theirs: Math.max(...all.map(inputOf)),
      runs: requests.length,
    };
  } finally {
    await app.close();
  }
}

/** The tools of three other servers as they list them by default. */
async function otherTools({ sides, note }: Given): Promise<ListedTool[]> {
  const mobile = fetchProgram(
    "@mobilenext/mobile-mcp@1.0.4",
    "@mobilenext/mobile-mcp/lib/index.js",
    join(sides.root, "test", "out", "cache"),
  );
  const servers = { playwright: sides.theirs(), devTools: sides.devTools(), mobile: sides.started([mobile]) };
  try {
    const listed: ListedTool[] = [];
    for (const [name, server] of Object.entries(servers)) {
      await server.initialize();
      const tools = await server.listTools();
      note(`agent: ${name} lists ${tools.length} tools by default`);
      listed.push(...tools.map((tool) => ({ ...tool, name: `${name}_${tool.name}` })));
    }
    return listed;
  } finally {
    for (const server of Object.values(servers)) await server.end();
  }
}

/** What conversations cost, from requests that were sent by the agents of a real daemon. */
export async function measureAgentCost(given: Given): Promise<Measurement[]> {
  return [
    ...(await measureSeedTurns(given)),
    ...(await measureTenTurns(given)),
    await measureExploration(given),
  ];
}
