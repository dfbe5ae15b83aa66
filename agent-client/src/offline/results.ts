import { z } from "zod";
import { notUnderstood, type OfflineAnswer, type Request } from "./request.ts";
import { kindsIn } from "./runs.ts";
import type { Period } from "./times.ts";
import { type Meaning, means } from "./words.ts";

const meanings: readonly Meaning[] = [
  ...(["run", "not", "question", "show", "past", "pass", "fail", "state", "small"] as const),
  ...(["script", "testcase", "device"] as const),
];
const maxShown = 10;

const pageSchema = z.object({
  counts: z.record(z.string(), z.int()),
  executions: z.array(
    z.object({
      ...{ execution_id: z.string(), name: z.string(), status: z.string(), started_at: z.string() },
      ...{ device: z.string().optional(), duration_ms: z.int().optional(), reason: z.string().optional() },
    }),
  ),
});
type Page = z.output<typeof pageSchema>;
type Run = Page["executions"][number];

/** Tells what ran: the latest run first, and how many ended how in the time that the request names. */
export async function results(request: Request, period: Period | undefined): Promise<OfflineAnswer> {
  const filter = await filterOf(request);
  const left = request.unknown(meanings);
  const page = await search(request, { ...filter, ...timesOf(period) });
  const [latest, ...others] = page.executions;
  const ever = latest || !period ? undefined : (await search(request, filter)).executions[0];
  const what = [filter.name && ` of ${filter.name}`, filter.device && ` on ${filter.device}`].join("");
  const shown = request.says("fail", "not") ? page.executions.filter(isBad) : others;
  const lines = [
    `${verdict(request, page, filter)}${latest ? `the latest run: ${runLine(latest)}` : `there was no run${what}`}.`,
    `${period?.said ?? "at any time"}: ${countsOf(page)}.`,
    ever && `The latest run at any time: ${runLine(ever)}.`,
    ...shown.slice(0, maxShown).map((run) => `- ${runLine(run)}`),
    period && `Meant by “${period.said}”: ${boundsText(period)}.`,
    notUnderstood(left),
  ];
  return { text: lines.filter(Boolean).join("\n"), outcome: left.length > 0 ? "needs_input" : "done" };
}

type Filter = { name?: string; kind?: string; device?: string };

/** What the request names. Throws Settled, with a question, where several fit. */
async function filterOf(request: Request): Promise<Filter> {
  const kinds = kindsIn(request);
  const [kind] = kinds.length === 1 ? kinds : [];
  if (request.unknown(meanings).length === 0) return kind ? { kind } : {};
  const [devices = [], targets = []] = await request.find(["device"], kinds);
  const device = request.one(devices)?.value;
  const name = (await request.pick(targets, kinds, request.unknown(meanings)))?.value;
  const target = name === undefined ? kind && { kind } : { name };
  return { ...target, ...(device !== undefined && { device }) };
}

const timesOf = ({ since, until }: Partial<Period> = {}) => ({
  ...(since && { since: since.toISOString() }),
  ...(until && { until: until.toISOString() }),
});

const search = async (request: Request, filter: object): Promise<Page> =>
  pageSchema.parse(
    (await request.call("get_execution_results", { ...filter, max_tokens: 10_000 })).structured,
  );

const isOpen = ({ status }: { status: string }): boolean => status === "running" || status === "queued";
const isBad = (run: Run): boolean => !isOpen(run) && run.status !== "passed";
const notBad = new Set(["passed", "flaky", "running", "queued"]);

function countsOf({ counts: { flaky: _, ...counts } }: Page): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  return [`${total} run${total === 1 ? "" : "s"}`, ...parts].join(", ");
}

/** The answer to a question whether something passed or failed: by the latest run of one, else by all runs. */
function verdict(request: Request, { counts, executions }: Page, { name }: Filter): string {
  const latest = name === undefined ? undefined : executions[0];
  if (name === undefined && request.unknown(meanings).length > 0) return "";
  if (!means(request.lead, "question") || request.says("not") || !request.says("pass", "fail")) return "";
  const ends = request.says("fail") || !latest ? Object.keys(counts) : [latest.status];
  const hasBad = ends.some((status) => !notBad.has(status));
  if (!hasBad && ends.some((status) => isOpen({ status }))) return "Not yet: ";
  if (ends.length === 0) return "No: ";
  return request.says("fail") === hasBad ? "Yes: " : "No: ";
}

const minutes = (date: Date): string => date.toLocaleString("sv-SE").slice(0, 16);

function runLine({ name, status, device, started_at, duration_ms: ms, reason, execution_id }: Run): string {
  const time = ms === undefined ? undefined : `${(ms / 1_000).toFixed(1)} s`;
  const facts = [device, minutes(new Date(started_at)), time, reason, `execution ${execution_id}`];
  return `${name} ${status} (${facts.filter(Boolean).join(", ")})`;
}

function boundsText({ since, until }: Period): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${since ? `from ${minutes(since)} ` : ""}until ${until ? minutes(until) : "now"}, ${zone}`;
}
