import { contract, plainChecks, requests, serveOrders } from "./apiPlain.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const rounds = 5;
const name = "orders";

/** A test case of 200 requests with five checks each, as an execution with its steps, beside plain `fetch` with `ajv`. */
export async function measureApiChecks(sides: Sides): Promise<Measurement[]> {
  const api = await serveOrders();
  const server = sides.ours(await sides.newDataDir());
  try {
    await server.initialize();
    await server.call("save_testcase", { testcase: testcaseOf(api.url) });
    const ours = async () => (await timed(() => runOnce(server))).ms;
    const theirs = async () => (await timed(() => plainChecks(api.url))).ms;
    const [own = [], plain = []] = await alternate([ours, theirs], { rounds, warmUps: 1 });
    return [
      {
        id: "api.checks",
        ours: median(own),
        theirs: median(plain),
        runs: rounds,
        ratios: ratiosOf(own, plain),
      },
    ];
  } finally {
    await server.end();
    await api.close();
  }
}

async function runOnce(server: StdioServer): Promise<void> {
  const { structured } = await server.call("execute_testcase", { testcase: name, wait_ms: 120_000 });
  const expected = requests * 5;
  if (structured?.status !== "passed" || structured.verified_count !== expected)
    throw new Error(`not ${expected} checks that hold: ${JSON.stringify(structured).slice(0, 500)}`);
}

function testcaseOf(url: string) {
  const ask = {
    id: "ask",
    type: "api_request",
    url,
    checks: [
      { status: 200 },
      { header: "content-type", equals: "application/json" },
      { json_path: "$.orders[0].id", equals: 0 },
      { json_path: "$.orders[1].total", type: "number" },
      { json_schema: contract },
    ],
  };
  const graph = (block: object, id: string) => ({
    blocks: [{ id: "start", type: "start" }, block, { id: "done", type: "success" }],
    edges: [
      { from: "start", to: id },
      { from: id, to: "done" },
    ],
  });
  const repeat = { id: "repeat", type: "loop", iterations: requests, body: graph(ask, "ask") };
  return { name, ...graph(repeat, "repeat") };
}
