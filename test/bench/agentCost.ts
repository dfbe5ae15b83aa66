import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ToolSpec } from "../../agent-client/src/ports.ts";
import { allSpecs, answers, fakeLab, hostsOf, openTalk } from "../fixtures/agentLab.ts";
import { modelAt, modelsAt } from "../fixtures/agentLoop.ts";
import type { SeenRequest } from "../fixtures/messagesApi/messages.ts";
import { getModel } from "../fixtures/messagesApi/models.ts";
import { calls, says } from "../fixtures/messagesApi/reply.ts";
import { type Step, script } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi } from "../fixtures/messagesApi/server.ts";
import { fetchProgram } from "../interop/fetchProgram.ts";
import { type ProductParts, partsIn } from "./productParts.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import type { ListedTool } from "./stdioServer.ts";
import { withoutDialect } from "./surface.ts";

/** The run that seed 000 thinks of: so many turns, so many tokens asked, so many of new history a turn. */
const run = { turns: 10, asked: 60, history: 230 };
const model = "claude-sonnet-5-5";
/** Fewest tokens that a model caches: most models, and the largest that is known. */
const floors = { usual: 1_024, largest: 4_096 };
/** US dollars for a million tokens of that model, output by input. */
const outputFactor = 5;
/**
 * `appium-mcp` 1.92.5 is not on npm; as its source listed them without its pictures, counted for each of its requests: o200k
 * tokens, by the factor that the stand-in counts with.
 */
const appiumTokens = 9_774 * getModel(model).tokenFactor;

const messages: Readonly<Record<string, string>> = {
  run_script: "Run the script goto on lab/browser",
  run_testcase: "Run the test case login_basic on lab/browser",
  list_resources: "List all test cases and scripts that there are",
};
const device = hostsOf({ id: "lab/browser", model: "web" });
const totalIn = ({ usage }: SeenRequest): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
/** In tokens at the price of plain input. */
const paidIn = ({ usage }: SeenRequest): number =>
  usage.input_tokens + 1.25 * usage.cache_creation_input_tokens + 0.1 * usage.cache_read_input_tokens;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

type Given = { parts: ProductParts; floor: number };

/** A message's requests as the agent client sends them, with a tool call in each turn but the last. */
async function talk(
  { parts, floor }: Given,
  text: string,
  steps: readonly Step[],
  result: string,
): Promise<readonly SeenRequest[]> {
  const api = await startMessagesApi({ respond: script(steps), floors: { [model]: floor } });
  const { server } = fakeLab(({ name }) => (name === "list_hosts" ? device : answers(result)), parts);
  const { conversations, say } = openTalk(server, modelsAt(api.url, { model }), parts);
  try {
    const { ended } = await say(text);
    if (ended.outcome !== "done")
      throw new Error(`"${text}" ended ${ended.outcome}: ${ended.error?.message}`);
    if (api.refused.length > 0) throw new Error(`refused: ${api.refused[0]?.message}`);
    return api.requests;
  } finally {
    await conversations.close();
    await api.close();
  }
}

/** The same requests with other tools and no cache, really sent; what each of them is charged. */
async function uncached(
  requests: readonly SeenRequest[],
  tools: readonly Pick<ToolSpec, "name" | "description" | "input_schema">[],
) {
  const api = await startMessagesApi({ respond: () => says("ok") });
  const { client } = modelAt(api.url, { model });
  try {
    for (const { body } of requests) {
      const { max_tokens, messages: history, system = [] } = body;
      const plain = JSON.parse(
        JSON.stringify(system, (key, value) => (key === "cache_control" ? undefined : value)),
      );
      await client.beta.messages.create({
        ...{ model, max_tokens, system: plain },
        messages: JSON.parse(JSON.stringify(history)),
        tools: tools.map(({ name, description, input_schema }) => ({
          name,
          description,
          input_schema: { ...input_schema },
        })),
      });
    }
    return api.requests.map(totalIn);
  } finally {
    await api.close();
  }
}

const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at % 10}`).join(" ");

/** Words of a tool's result with which a turn adds as much history as it should. */
function resultFor(use: { name: string; input: object }): string {
  let count = 0;
  while (countTokens(JSON.stringify(use)) + countTokens(words(count + 1)) <= run.history) count += 1;
  return words(count);
}

/** The run of ten turns by the skill run-script. */
async function tenTurns(given: Given): Promise<readonly SeenRequest[]> {
  const use = { name: "execute_script", input: { execution_id: "k3x9f2m4q8z1" } };
  const asked = `${messages.run_script} ${words(100)}`.split(" ");
  while (countTokens(asked.join(" ")) > run.asked) asked.pop();
  const steps = [
    ...Array.from({ length: run.turns - 1 }, () => calls(use.name, use.input)),
    says("goto: passed in 7.5 s"),
  ];
  return talk(given, asked.join(" "), steps, resultFor(use));
}

/** What everything costs, and what it costs with the tools of one skill and a cache. All from requests that were sent. */
export async function measureAgentCost(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const parts = partsIn(sides.root);
  const usual = { parts, floor: floors.usual };
  const found: Measurement[] = [];
  for (const [skill, text] of Object.entries(messages)) {
    const requests = await talk(
      usual,
      text,
      [calls(skill === "list_resources" ? "list_scripts" : "get_compatible_hosts", {}), says("done")],
      words(160),
    );
    const [first, second] = requests;
    if (!first || !second) throw new Error("a turn is missing");
    const [all = Number.NaN] = await uncached([first], allSpecs);
    note(
      `agents: ${skill}: ${all} tokens with all tools, ${totalIn(first)} with the skill, ${Math.round(paidIn(second))} paid for in the second turn`,
    );
    found.push({ id: `agents.${skill}`, ours: totalIn(first), theirs: all, runs: 1 });
  }
  const requests = await tenTurns(usual);
  const ours = sum(requests.map(paidIn));
  const all = sum(await uncached(requests, allSpecs));
  const output = outputFactor * sum(requests.map(({ usage }) => usage.output_tokens));
  found.push({ id: "agents.input", ours, theirs: all, runs: requests.length });
  found.push({ id: "agents.total", ours: ours + output, theirs: all + output, runs: requests.length });
  const others = await otherTools(sides);
  const theirs = sum(await uncached(requests, others)) + run.turns * appiumTokens;
  found.push({ id: "agents.others", ours, theirs, runs: requests.length });
  const subset = sum(requests.map(totalIn));
  const percent = (part: number) => `${((100 * part) / all).toFixed(1)} %`;
  note(
    `agents: ten turns: ${percent(subset)} of all tools' input by the subset alone, ${percent(ours)} with the cache; ${(ours / (theirs - run.turns * appiumTokens)).toFixed(3)} of Playwright's and mobile MCP's alone`,
  );
  const large = await tenTurns({ parts, floor: floors.largest });
  note(`agents: the same with a floor of ${floors.largest}: ${percent(sum(large.map(paidIn)))} (no goal)`);
  const everything = await cachedWith(requests, allSpecs);
  note(`agents: all tools, cached, without the subset: ${percent(everything)}`);
  return found;
}

/** The same requests with these tools, cached as ours are. */
async function cachedWith(requests: readonly SeenRequest[], tools: readonly ToolSpec[]): Promise<number> {
  const api = await startMessagesApi({ respond: () => says("ok"), floors: { [model]: floors.usual } });
  const { client } = modelAt(api.url, { model });
  try {
    for (const { body } of requests)
      await client.beta.messages.create({
        model,
        max_tokens: body.max_tokens,
        cache_control: { type: "ephemeral" },
        messages: JSON.parse(JSON.stringify(body.messages)),
        tools: tools.map(({ name, description, input_schema }) => ({
          name,
          description,
          input_schema: { ...input_schema },
        })),
        ...(body.system && { system: JSON.parse(JSON.stringify(body.system)) }),
      });
    return sum(api.requests.map(paidIn));
  } finally {
    await api.close();
  }
}

/** The tools of `@playwright/mcp` and of mobile-mcp, as their servers list them now. */
async function otherTools(
  sides: Sides,
): Promise<{ name: string; description: string; input_schema: ToolSpec["input_schema"] }[]> {
  const program = fetchProgram(
    "@mobilenext/mobile-mcp@1.0.4",
    "@mobilenext/mobile-mcp/lib/index.js",
    join(sides.root, "test", "out", "cache"),
  );
  const servers = [sides.theirs("--caps", "vision,pdf,devtools"), sides.started([program])];
  try {
    const listed: ListedTool[] = [];
    for (const server of servers) {
      await server.initialize();
      listed.push(...(await server.listTools()));
    }
    return listed.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { ...withoutDialect(inputSchema), type: "object" as const },
    }));
  } finally {
    for (const server of servers) await server.end();
  }
}
