import { z } from "zod";
import { type ApiFinding, apiRequestSchema, type FaultId, faults, type Step } from "../../../domain/index.ts";
import { curlLine } from "../apis/requests/curl.ts";
import { hasDatabaseError, showsMarkup } from "./security.ts";
import type { Ask } from "./types.ts";

/** A request or a condition of a generated test, and how it went. `before`: the last request ahead of a condition. */
export type Outcome = {
  ask: Ask;
  step: Step;
  execution_id: string;
  before?: Step | undefined;
  /** The requests of its test that made what it needs. */
  setup: readonly Ask[];
  /** The server asked the address that it was given. */
  called?: boolean;
};

const judgedSchema = z.object({
  expected: z.string(),
  pass: z.boolean(),
  found: z.string().optional(),
  path: z.string().optional(),
});
const outputSchema = z.object({
  status: z.int().optional(),
  duration_ms: z.number().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  value: z.boolean().optional(),
  checks: z.array(judgedSchema).optional(),
});
type Judged = z.output<typeof judgedSchema>;

/** What a step of a request, or of a condition, recorded; empty for one that did not come to it. */
export const outputOf = ({ output }: Step): z.output<typeof outputSchema> =>
  outputSchema.safeParse(output).data ?? {};

/** One thing that is wrong. Marks with an equal one are of one cause. */
type Mark = { fault: FaultId; at: string; expected: string; found: string };
type Shown = { outcome: Outcome; marks: Mark[] };

/** Each cause once: what breaks together, in one place, or in one way in many places. */
export const findingsOf = (outcomes: readonly Outcome[]): ApiFinding[] => causesIn(outcomes).map(findingOf);

/** The request that shows each cause best. */
export const clearestOf = (outcomes: readonly Outcome[]): Outcome[] =>
  causesIn(outcomes).map((cause) => clearest(cause).outcome);

function causesIn(outcomes: readonly Outcome[]): Cause[] {
  const shown = outcomes
    .map((outcome) => ({ outcome, marks: attackMarks(outcome, outcomes) ?? marksOf(outcome) }))
    .filter(({ marks }) => marks.length > 0);
  return causesOf(shown, outcomes);
}

function marksOf({ ask, step }: Outcome): Mark[] {
  const output = outputOf(step);
  if (ask.block.type === "condition") return output.value === false ? conditionMarks(ask) : [];
  const { status, checks = [] } = output;
  if (status === undefined) return [];
  const broken = checks.filter(({ pass }) => !pass);
  const wrongStatus = broken.find(
    ({ path, expected }) => path === undefined && expected.startsWith("status"),
  );
  if (status === 500 && wrongStatus)
    return [{ fault: "F100", at: crashPlace(ask), expected: "any status but 500", found: "status 500" }];
  if (wrongStatus) return statusMarks(ask, status, wrongStatus);
  if (ask.kind === "setup") return ask.fault ? contentMarks(ask.fault, broken).slice(0, 1) : [];
  return contentMarks("F101", broken);
}

/** What a request of `security.ts` showed, in its own reply or in a later one. */
function attackMarks({ ask, step, called }: Outcome, all: readonly Outcome[]): Mark[] | undefined {
  const at = ask.field ?? "";
  if (called)
    return [{ fault: "F202", at, expected: "no request to a given address", found: "the server sent one" }];
  // A page about databases has such texts without quotes, too.
  const isUsual = ({ ask: other, step: usual }: Outcome) =>
    other.kind === "good" && other.operation === ask.operation && hasDatabaseError(outputOf(usual).body);
  if (ask.trial === "quotes" && hasDatabaseError(outputOf(step).body) && !all.some(isUsual)) {
    const found = JSON.stringify(outputOf(step).body);
    return [{ fault: "F200", at, expected: "the value is taken as a value, not as SQL", found }];
  }
  if (ask.trial !== "markup") return undefined;
  const page = all.find(({ step: { output } }) => {
    const { headers, body } = outputSchema.safeParse(output).data ?? {};
    return showsMarkup(ask, headers?.["content-type"] ?? "", body);
  });
  const found = `unescaped in text/html of ${page?.ask.operation}`;
  return page && [{ fault: "F201", at, expected: "markup is escaped", found }];
}

/** A body of another content type is, to a server that reads JSON, no body. */
const crashPlace = ({ field = "request" }: Ask): string => (field === "content-type" ? "body" : field);

const conditionMarks = ({ fault, field, label, block }: Ask): Mark[] => {
  if (!fault) return [];
  const found = block.type === "condition" ? `it does not hold: ${block.expression}` : "it does not hold";
  return [{ fault, at: field ?? "flow", expected: label, found }];
};

/** Only a success can be a fault here: what a refusal means is not known. */
function statusMarks({ kind, fault, field }: Ask, status: number, { expected: wanted }: Judged): Mark[] {
  const isSuccess = status >= 200 && status < 300;
  const byKind = { invalid: "F102", refused: "F206", good: "F101", rule: fault } as const;
  if (!isSuccess || kind === "probe" || kind === "setup") return [];
  const id = fault ?? byKind[kind];
  const expected = kind === "good" ? wanted : "a refusal";
  const at = kind === "good" ? "status" : (field ?? "flow");
  return id ? [{ fault: id, at, expected, found: `status ${status}` }] : [];
}

const contentMarks = (fault: FaultId, broken: readonly Judged[]): Mark[] =>
  broken.flatMap(({ path, expected, found = "" }) =>
    path === undefined
      ? []
      : [
          {
            fault,
            at: path.replaceAll(/\[\d+\]/g, "[*]"),
            expected: expected.replaceAll(/\[\d+\]/g, "[*]"),
            found,
          },
        ],
  );

type Cause = { fault: FaultId; shown: Shown[] };

function causesOf(shown: readonly Shown[], all: readonly Outcome[]): Cause[] {
  // What refusals look like is mostly decided in one place, for all operations.
  const isRefusal = ({ outcome, marks }: Shown) =>
    marks[0]?.fault === "F101" && (outputOf(outcome.step).status ?? 0) >= 400;
  const byOperation = groupBy(shown, (one) =>
    isRefusal(one) ? "refusals" : `${one.outcome.ask.operation}\n${one.marks[0]?.fault}`,
  );
  return [...byOperation.values()].flatMap((group) => {
    const [fault] = group.flatMap(({ marks }) => marks.map((mark) => mark.fault));
    if (!fault) return [];
    const parts = fault === "F101" ? joined(group) : byField(group, all);
    return parts.map((part) => ({ fault, shown: part }));
  });
}

/** Replies that share a break are of one cause, and so is all that is broken in them. */
function joined(group: readonly Shown[]): Shown[][] {
  const parts: { keys: Set<string>; shown: Shown[] }[] = [];
  for (const one of group) {
    const keys = new Set(one.marks.map(({ at, expected }) => `${at} ${expected}`));
    const same = parts.filter((part) => [...keys].some((key) => part.keys.has(key)));
    const [first = { keys: new Set<string>(), shown: [] }, ...others] = same;
    for (const { keys: more } of others) for (const key of more) keys.add(key);
    for (const key of keys) first.keys.add(key);
    first.shown.push(...others.flatMap((part) => part.shown), one);
    if (same.length === 0) parts.push(first);
    for (const other of others) parts.splice(parts.indexOf(other), 1);
  }
  return parts.map((part) => part.shown);
}

/** So many fields that break alike have one cause. */
const alikeFields = 3;

/** A body of another kind lacks every field: with a field that is missed it is not a cause of its own. */
function withoutWhole(fields: Map<string, Shown[]>): Map<string, Shown[]> {
  const whole = fields.get("body");
  const missed = [...fields.entries()].find(
    ([at, part]) => at !== "body" && part.some(({ outcome }) => outcome.ask.trial === "missing"),
  );
  if (!whole || !missed) return fields;
  const [name, part] = missed;
  const others = [...fields].filter(([at]) => at !== "body" && at !== name);
  return new Map([[name, [...part, ...whole]], ...others]);
}

function byField(group: readonly Shown[], all: readonly Outcome[]): Shown[][] {
  const [first] = group;
  // With the good request broken, nothing more follows from the others.
  if (first?.marks[0]?.fault === "F100" && group.some(({ outcome }) => outcome.ask.field === undefined))
    return [[...group]];
  const fields = withoutWhole(groupBy(group, ({ marks }) => marks[0]?.at ?? ""));
  const { operation, kind } = first?.outcome.ask ?? {};
  const tried = new Set(
    all.flatMap(({ ask }) =>
      ask.operation === operation && ask.kind === kind && ask.field ? [ask.field] : [],
    ),
  );
  const isMost = fields.size >= alikeFields && fields.size * 3 > tried.size * 2;
  if (isMost) return [[...group]];
  const byTrial = groupBy(group, ({ outcome }) => outcome.ask.trial ?? "");
  const common = [...byTrial.values()].filter(
    (part) => new Set(part.map(({ marks }) => marks[0]?.at)).size >= alikeFields,
  );
  const taken = new Set(common.flat().map(({ marks }) => marks[0]?.at));
  const own = [...fields].filter(([at]) => !taken.has(at)).map(([, part]) => part);
  return [...common, ...own];
}

/** The request with the fewest changes says most. */
function clearest({ shown }: Cause): Shown {
  const [best] = shown.toSorted((one, other) => weightOf(one) - weightOf(other));
  if (!best) throw new Error("A cause without a reply.");
  return best;
}

function findingOf(cause: Cause): ApiFinding {
  const { fault, shown } = cause;
  const { outcome, marks } = clearest(cause);
  const isWhole = shown.some(({ outcome: { ask } }) => ask.field === undefined && fault === "F100");
  const places = isWhole ? ["request"] : [...new Set(shown.flatMap((one) => one.marks.map(({ at }) => at)))];
  const [mark] = marks;
  const also = [...new Set(shown.map((one) => one.outcome.ask.operation))].filter(
    (id) => id !== outcome.ask.operation,
  );
  return {
    ...{ fault, title: faults[fault], operation: outcome.ask.operation },
    ...(also.length > 0 && { also }),
    at: places.slice(0, 5).join(", ") + (places.length > 5 ? ` and ${places.length - 5} more` : ""),
    expected: [...new Set(marks.map(({ expected }) => expected))].slice(0, 3).join("; "),
    found: `${shortened(mark?.found ?? "")}${outcome.ask.trial ? ` (${outcome.ask.label})` : ""}`,
    curl: curlOf(outcome),
    times: shown.length,
    execution_id: outcome.execution_id,
  };
}

const longestFound = 160;
const shortened = (text: string): string =>
  text.length > longestFound ? `${text.slice(0, longestFound)} …` : text;

const weightOf = ({ outcome: { ask, step } }: Shown): number =>
  (ask.field === "body" ? 100_000 : 0) +
  (ask.trial === undefined ? 0 : 1_000) +
  JSON.stringify(step.input ?? "").length;

function curlOf({ step, before }: Outcome): string {
  const asked = apiRequestSchema.safeParse((before ?? step).input);
  return asked.success ? curlLine(asked.data, "") : "";
}

/** How long successful replies took, in milliseconds: of `n` replies the median, the 95th percentile and the longest. */
export type Timing = { operation: string; n: number; p50: number; p95: number; max: number };

/** Slowest first. */
export function timingsOf(outcomes: readonly Outcome[]): Timing[] {
  const timed = outcomes.flatMap(({ ask, step }) => {
    const { status = 0, duration_ms: ms } = outputOf(step);
    return ms !== undefined && status >= 200 && status < 300 ? [{ operation: ask.operation, ms }] : [];
  });
  return [...groupBy(timed, ({ operation }) => operation)]
    .map(([operation, list]) => {
      const sorted = list.map(({ ms }) => ms).sort((one, other) => one - other);
      const at = (share: number) =>
        Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0);
      return { operation, n: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
    })
    .sort((one, other) => other.p95 - one.p95);
}

/** Items by key, in order of first appearance. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
