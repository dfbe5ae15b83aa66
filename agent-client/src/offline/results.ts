import { z } from "zod";
import type { Thing } from "./listings.ts";
import { notUnderstood, type OfflineAnswer, type Request, stop } from "./request.ts";
import { isOpen } from "./run.ts";
import type { Period } from "./times.ts";
import type { Meaning } from "./words.ts";

const understood: readonly Meaning[] = [
  ...(["run", "not", "question", "what", "show", "past", "pass", "fail", "result", "state"] as const),
  ...(["small", "vague", "script", "testcase", "device"] as const),
];
const maxShown = 10;

const runSchema = z.object({
  ...{ execution_id: z.string(), name: z.string(), status: z.string(), started_at: z.string() },
  ...{ device: z.string().optional(), duration_ms: z.int().optional(), reason: z.string().optional() },
});
const pageSchema = z.object({ counts: z.record(z.string(), z.int()), executions: z.array(runSchema) });
type Page = z.output<typeof pageSchema>;
type Run = z.output<typeof runSchema>;

/** Says what ran: the latest run first, and how many ended how in the time that the request names. */
export async function results(request: Request): Promise<OfflineAnswer> {
  const { period } = request;
  const topics = request.runnables();
  const device = onlyOne(request.found(["device"]));
  const target = onlyOne(request.found(topics));
  const left = request.leftOver(understood, [device, target], period);
  const page = await search(request, {
    kind: target?.topic ?? (topics.length === 1 ? topics[0] : undefined),
    ...{ name: target?.value, device: device?.value },
    ...{ since: period?.since?.toISOString(), until: period?.until?.toISOString() },
  });
  const [latest, ...others] = page.executions;
  const further = request.says("fail", "not")
    ? page.executions.filter(({ status }) => isBad(status))
    : others;
  const what = [target && ` of ${target.value}`, device && ` on ${device.value}`].join("");
  const said = latest ? `the latest run: ${runText(latest)}` : `there was no run${what}`;
  const lines = [
    `${left.length > 0 ? "" : verdict(request, page, target)}${said}.`,
    `${period?.said ?? "at any time"}: ${countsOf(page)}.`,
    ...further.slice(0, maxShown).map((run) => `- ${runText(run)}`),
    period && `Read from “${period.said}”: ${boundsText(period)}.`,
    notUnderstood(left),
  ];
  return { text: lines.filter(Boolean).join("\n"), outcome: left.length > 0 ? "needs_input" : "done" };
}

function onlyOne(things: readonly Thing[]): Thing | undefined {
  if (things.length < 2) return things[0];
  return stop(`Ask about one at a time: ${things.map(({ value }) => value).join(", ")}.`);
}

async function search(request: Request, filter: Record<string, string | undefined>): Promise<Page> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const input = { ...Object.fromEntries(given), max_tokens: 10_000 };
  return pageSchema.parse((await request.call("get_execution_results", input)).structured);
}

const isBad = (status: string): boolean => !isOpen(status) && !["passed", "flaky"].includes(status);

/** The answer to a question whether something passed or failed: by the latest run of one target, else by all runs. */
function verdict(request: Request, { counts, executions }: Page, target: Thing | undefined): string {
  if (!request.leads("question") || request.says("not") || !request.says("pass", "fail")) return "";
  const asksFail = request.says("fail");
  const latest = executions.slice(0, 1).map(({ status }) => status);
  const statuses = target && !asksFail ? latest : Object.keys(counts);
  const hasBad = statuses.some(isBad);
  if (!hasBad && statuses.some(isOpen)) return "Not yet: ";
  return statuses.length > 0 && asksFail === hasBad ? "Yes: " : "No: ";
}

function countsOf({ counts: { flaky: _, ...counts } }: Page): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  return [`${total} run${total === 1 ? "" : "s"}`, ...parts].join(", ");
}

const minutes = (date: Date): string => date.toLocaleString("sv-SE").slice(0, 16);

function runText({ name, status, device, started_at, duration_ms: ms, reason, execution_id }: Run): string {
  const time = ms === undefined ? undefined : `${(ms / 1_000).toFixed(1)} s`;
  const facts = [device, minutes(new Date(started_at)), time, reason, `execution ${execution_id}`];
  return `${name} ${status} (${facts.filter(Boolean).join(", ")})`;
}

function boundsText({ since, until }: Period): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${since ? `from ${minutes(since)} ` : ""}until ${until ? minutes(until) : "now"}, ${zone}`;
}
