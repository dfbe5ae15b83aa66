import { join } from "node:path";
import { z } from "zod";
import { parseEntries } from "./dumps.ts";
import { type Control, isAt, matchControls, type Place, readControls } from "./labels.ts";
import { tokensOf } from "./loginTokens.ts";
import { startNodeRed } from "./nodeRed.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";
import { median } from "./statistics.ts";
import type { Reply, StdioServer } from "./stdioServer.ts";

const rounds = 5;
const findLimit = 150;

type Look = { dump: Reply; missing: readonly Control[]; notFound: readonly string[] };

const open = async (server: StdioServer, url: string): Promise<void> => {
  await server.call("execute_device_action", {
    actions: [
      { command: "navigate_to_url", params: { url } },
      { command: "wait_for", params: { text: "inject", timeout_ms: 30_000 } },
    ],
  });
};

const itemsSchema = z.array(
  z.looseObject({
    ref: z.string(),
    rect: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).optional(),
  }),
);

/** Where each ref is, from a look of its own that no figure counts. */
async function places(server: StdioServer): Promise<ReadonlyMap<string, Place>> {
  const all = { interactive_only: false, detail: "full", max_tokens: 50_000 };
  const reply = await server.call("dump_ui_elements", all);
  const items = itemsSchema.parse(reply.structured?.items ?? []);
  return new Map(items.flatMap(({ ref, rect }) => (rect ? [[ref, rect]] : [])));
}

/** Asks for the control by its name, as a person would; the reply must hold the control itself, whatever it is called there. */
async function findProblem(server: StdioServer, control: Control): Promise<string | undefined> {
  const found = await server.call("dump_ui_elements", { find: control.name });
  const place = await places(server);
  const isThere = parseEntries(found.text).some(({ ref }) => {
    const at = place.get(ref);
    return at !== undefined && isAt(control, at);
  });
  const tokens = tokensOf(found);
  if (!isThere) return `${control.role} ${control.name}: not in the reply`;
  return tokens > findLimit ? `${control.role} ${control.name}: ${tokens} tokens` : undefined;
}

async function look(server: StdioServer, url: string, controls: readonly Control[]): Promise<Look> {
  await open(server, url);
  const dump = await server.call("dump_ui_elements", {});
  const matched = new Set(matchControls(parseEntries(dump.text), controls));
  const notFound: string[] = [];
  for (const control of controls) {
    const problem = await findProblem(server, control);
    if (problem !== undefined) notFound.push(problem);
  }
  return { dump, missing: controls.filter((control) => !matched.has(control)), notFound };
}

async function theirs(
  sides: Sides,
  url: string,
  controls: readonly Control[],
): Promise<{ labels: number; tokens: number }> {
  const server = sides.theirs();
  try {
    await server.initialize();
    await server.call("browser_navigate", { url });
    await server.call("browser_wait_for", { text: "inject" });
    const dump = await server.call("browser_snapshot", {});
    return { labels: matchControls(parseEntries(dump.text), controls).length, tokens: tokensOf(dump) };
  } finally {
    await server.end();
  }
}

/** A dense editor with controls of every kind, many without a role or a written name. */
export async function measureSeeing(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const controls = await readControls(join(sides.root, "test", "bench"));
  const app = await startNodeRed(sides.root, sides.scratch);
  const dataDir = await sides.newDataDir();
  const server = sides.ours(dataDir);
  try {
    const other = await theirs(sides, app.url, controls);
    await server.initialize();
    const looks: Look[] = [];
    for (let round = 0; round < rounds; round++) looks.push(await look(server, app.url, controls));
    const last = looks.at(-1);
    for (const control of last?.missing ?? []) note(`not in the dump: ${control.role} ${control.name}`);
    for (const line of last?.notFound ?? []) note(`not found: ${line}`);
    const total = controls.length;
    const middle = (of: (look: Look) => number): number => median(looks.map(of));
    return [
      {
        id: "see.dump_labels",
        ours: middle((l) => total - l.missing.length),
        theirs: other.labels,
        runs: rounds,
      },
      { id: "see.dump_tokens", ours: middle((l) => tokensOf(l.dump)), theirs: other.tokens, runs: rounds },
      { id: "see.find_labels", ours: middle((l) => total - l.notFound.length), runs: rounds },
    ];
  } finally {
    await server.end();
    await sides.stopDaemon(dataDir);
    await app.close();
  }
}
