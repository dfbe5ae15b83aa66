import { refOf } from "./dumps.ts";
import type { Site } from "./pages.ts";
import type { Measurement } from "./rows.ts";
import { motionPatterns } from "./settleMotion.ts";
import { pagePatterns, restlessPatterns } from "./settlePages.ts";
import type { Pattern } from "./settlePattern.ts";
import { openPlainSide, type PlainSide } from "./settlePlain.ts";
import { serveSettleSite } from "./settleSite.ts";
import { workPatterns } from "./settleWork.ts";
import type { Sides } from "./sides.ts";
import { median, timed } from "./statistics.ts";
import type { StdioServer } from "./stdioServer.ts";

const rounds = 3;

export const patterns: readonly Pattern[] = [
  ...workPatterns,
  ...motionPatterns,
  ...pagePatterns,
  ...restlessPatterns,
];

/** `isRight`: it shows what a user sees. `isFalse`: it says that nothing changed, and something did. */
type Reply = { ms: number; isRight: boolean; isFalse: boolean; text: string };
type Result = { pattern: Pattern; replies: Reply[]; plain: number[] };

const saysNothing = /nothing changed|no elements/;

const act = async (server: StdioServer, actions: readonly object[]): Promise<string> =>
  (await server.call("execute_device_action", { actions }, { mayFail: true })).text;

export async function ourReply(server: StdioServer, pattern: Pattern, url: string): Promise<Reply> {
  await act(server, [{ command: "load_storage_state", params: {} }]);
  await act(server, [{ command: "navigate_to_url", params: { url } }]);
  const dump = (await server.call("dump_ui_elements", {})).text;
  const { command, params = {}, onto } = pattern.action;
  const target = command === "scroll" ? {} : { ref: refOf(dump, "Go") };
  const drop = onto === true ? { to_ref: refOf(dump, "Onto") } : {};
  const action = { command, params: { ...target, ...drop, ...params } };
  const { ms, result: text } = await timed(() => act(server, [action]));
  const isFalse = pattern.changesNothing !== true && saysNothing.test(text);
  return { ms, isRight: pattern.outcome.test(text) && !isFalse, isFalse, text };
}

async function measurePattern(
  server: StdioServer,
  plain: PlainSide,
  site: Site,
  pattern: Pattern,
): Promise<Result> {
  const url = site.url(`/pattern/${encodeURIComponent(pattern.name)}`);
  const result: Result = { pattern, replies: [], plain: [] };
  for (let round = 0; round < rounds; round++) {
    result.plain.push(await plain.run(pattern, url));
    result.replies.push(await ourReply(server, pattern, url));
  }
  return result;
}

const times = ({ replies }: Result): number[] => replies.map(({ ms }) => ms);
const ratioOf = (result: Result): number => median(times(result)) / median(result.plain);

/** One line a pattern: our time, plain Playwright's, and in how many replies the outcome was. */
function lineOf(result: Result): string {
  const { pattern, replies, plain } = result;
  const seen = replies.filter(({ isRight }) => isRight).length;
  const missed = replies
    .find(({ isRight }) => !isRight)
    ?.text.replace(/\s+/g, " ")
    .slice(0, 160);
  const figures = `${median(times(result)).toFixed(0).padStart(5)} ms, plain ${median(plain).toFixed(0).padStart(5)} ms`;
  const outcome = `outcome in ${seen} of ${replies.length}`;
  return `${pattern.name.padEnd(52)} ${figures}, ${outcome}${missed === undefined ? "" : `; saw: ${missed}`}`;
}

function rowsOf(results: readonly Result[]): Measurement[] {
  const replies = results.flatMap((result) => result.replies);
  const right = replies.filter(({ isRight }) => isRight).length;
  const isMisled = replies.some(({ isFalse }) => isFalse);
  const atRest = results.filter(({ pattern }) => pattern.rests);
  return [
    { id: "settle.outcome", ours: isMisled ? Number.NaN : right / replies.length, runs: replies.length },
    { id: "settle.time", ours: median(atRest.map(ratioOf)), runs: atRest.flatMap(times).length },
  ];
}

/** What replies say after actions on pages that take their time, next to plain Playwright that knows what to wait for. */
export async function measureSettle(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  const site = await serveSettleSite(patterns);
  const plain = await openPlainSide(sides.browser);
  const server = sides.ours(dataDir);
  try {
    await server.initialize();
    const results: Result[] = [];
    for (const pattern of chosenPatterns()) {
      const result = await measurePattern(server, plain, site, pattern);
      note(lineOf(result));
      results.push(result);
    }
    return rowsOf(results);
  } finally {
    await server.end();
    await plain.close();
    await sides.stopDaemon(dataDir);
    await site.close();
  }
}

/** All, or while one works on them those whose name has the word in BENCH_PATTERN. */
function chosenPatterns(): readonly Pattern[] {
  const word = process.env.BENCH_PATTERN ?? "";
  return patterns.filter(({ name }) => name.includes(word));
}
