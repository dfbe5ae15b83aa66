import priceFile from "#agent-client/model/models.json" with { type: "json" };
import type { SeenRequest } from "../fixtures/messagesApi/messages.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import { blocksOf, type MessagesRequest } from "../fixtures/messagesApi/request.ts";
import type { Respond } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { startAgentSide } from "./agentSide.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { ListedTool, StdioServer } from "./stdioServer.ts";
import { withoutDialect } from "./surface.ts";

const turns = 10;

type Price = (typeof priceFile.models)[number]["price"];

type Given = { sides: Sides; url(path: string): string; note(line: string): void };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
/** US dollars for a million such requests. */
const inputCost = ({ usage }: SeenRequest, { input, cache_write, cache_read }: Price): number =>
  input * usage.input_tokens +
  cache_write * usage.cache_creation_input_tokens +
  cache_read * usage.cache_read_input_tokens;

/** A conversation of ten turns with a real daemon and real tools, and what the model's stand-in was sent. */
async function converse(
  { sides, url }: Given,
  model: string | undefined,
): Promise<{ requests: readonly SeenRequest[]; tools: readonly ListedTool[] }> {
  const api = await startMessagesApi({ respond: tenTurns() });
  const prepare = (host: StdioServer) => saveApp(host, url);
  const side = await startAgentSide(sides, { api: api.url, prepare, ...(model !== undefined && { model }) });
  try {
    const session = await side.open();
    await side.say(session, "Run the script goto on lab/browser and watch it to its end", "run-script");
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

function goto() {
  return calls("execute_script", {
    ...{ script: "goto", args: ["Reached"], device_id: "lab/browser" },
    ...{ userinterface_name: "shop", wait_ms: 60_000 },
  });
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
    return execution === undefined
      ? goto()
      : calls("get_execution_status", { execution_id: execution, wait_ms: 45_000 });
  };
}

/** What a conversation costs, from requests that the agents of a real daemon sent. */
export async function measureTenTurns(given: Given): Promise<Measurement> {
  const { models } = priceFile;
  const price = (id: string) => models.find(({ model }) => model === id)?.price;
  const costs = async (model?: string) => {
    const { requests, tools } = await converse(given, model);
    const used = requests[0]?.body.model ?? "";
    const paid = price(used);
    if (requests.length !== turns || !paid) throw new Error(`${requests.length} turns of ${used}`);
    const output = sum(requests.map(({ usage }) => paid.output * usage.output_tokens));
    const cost = (sent: readonly SeenRequest[]) =>
      (sum(sent.map((one) => inputCost(one, paid))) + output) / 1e6;
    const cached = sum(requests.map(({ usage }) => usage.cache_read_input_tokens));
    return { model: used, ours: cost(requests), all: cost(await sentWith(requests, tools)), cached };
  };
  const usual = await costs();
  const rows = [usual];
  for (const { model } of models) if (model !== usual.model) rows.push(await costs(model));
  for (const { model, ours, all, cached } of rows)
    given.note(
      `agent: ten turns, ${model}: $${ours.toFixed(4)} with the skill's tools${cached === 0 ? " (below the model's floor: nothing cached)" : ""}, $${all.toFixed(4)} with all tools, ${(ours / all).toFixed(3)}`,
    );
  return { id: "agent.ten_turns", ours: usual.ours, theirs: usual.all, runs: turns };
}

const shows = (text: string) => ({ command: "text_visible", params: { text } });
const open = (url: string) => ({ command: "navigate_to_url", params: { url } });

/** The app `shop` on the bench's pages. */
export async function saveApp(host: StdioServer, url: (path: string) => string): Promise<void> {
  const app = {
    format_version: 1,
    name: "shop",
    models: ["web"],
    tree: {
      nodes: [
        { label: "Entry", type: "entry" },
        { label: "Start", verifications: [shows("A page of ordinary size.")] },
        { label: "Reached", verifications: [shows("Reached page")] },
      ],
      edges: [
        { source: "Entry", target: "Start", action_sets: [{ actions: [open(url("/small"))] }] },
        { source: "Start", target: "Reached", action_sets: [{ actions: [open(url("/reached"))] }] },
      ],
    },
  };
  await host.call("import_userinterface", { yaml: JSON.stringify(app) });
}
