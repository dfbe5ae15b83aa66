import type { Difference, StepView } from "../../../domain/index.ts";

export type Pair = { good?: StepView; now?: StepView; differences: Difference[] };

/** A step took longer or shorter beyond noise if one took this many times as long as the other, and so many ms more. */
const timesAsLong = 2;
const mostNoiseMs = 500;
/** The table of pairs has one cell for each two steps. */
const mostCompared = 5_000;

/**
 * Pairs the steps of two runs of one test, in their order, and says how each pair differs. A step is the same if its kind, label and
 * round are; one that was renamed keeps its path. Not by index: a step that was added moves all behind it. `first` is the index of the first
 * pair that differs in more than its picture and its time, or else of the first that differs; -1 if none does. Of longer runs, the first
 * 5,000 steps are compared.
 */
export function compareSteps(
  good: readonly StepView[],
  now: readonly StepView[],
): { pairs: Pair[]; first: number } {
  const [before, after] = [good.slice(0, mostCompared), now.slice(0, mostCompared)];
  const pairs = pairsOf(before, after).map((pair) => ({ ...pair, differences: differencesOf(pair) }));
  const strong = pairs.findIndex(({ differences }) => differences.some(({ what }) => !weak.has(what)));
  const first = strong >= 0 ? strong : pairs.findIndex(({ differences }) => differences.length > 0);
  return { pairs, first };
}

/** A clock on the screen changes every picture. */
const weak: ReadonlySet<string> = new Set(["picture", "time"]);

function differencesOf({ good, now }: Omit<Pair, "differences">): Difference[] {
  if (!now) return [{ what: "missing", text: "only the good run made this step" }];
  if (!good) return [{ what: "added", text: "only this run made this step" }];
  const found: [Difference["what"], string | undefined, string | undefined][] = [
    ["renamed", good.label, now.label],
    ["status", good.status, now.status],
    ["found", foundOf(good), foundOf(now)],
    ["notices", good.notices?.join("; "), now.notices?.join("; ")],
    ["requests", ...requestsOf(good, now)],
  ];
  const differences = found.flatMap(([what, was, is]) =>
    was === is ? [] : [{ what, text: `was ${was || "nothing"}, now ${is || "nothing"}` }],
  );
  const [before, after] = [good, now].map(({ pictures }) => pictures.map(({ uri }) => uri).join());
  if (before !== after) differences.push({ what: "picture", text: "the pictures are not equal" });
  const [short = 0, long = 0] = [good.duration_ms, now.duration_ms].sort((a, b) => a - b);
  if (long - short >= mostNoiseMs && long >= short * timesAsLong)
    differences.push({ what: "time", text: `took ${good.duration_ms} ms, now ${now.duration_ms} ms` });
  return differences;
}

const foundOf = ({ finding, error }: StepView): string | undefined =>
  finding?.found ?? (error && `${error.code}: ${error.message}`);

/** Kept of failed steps only, so a step that has none says nothing. */
function requestsOf(...steps: [StepView, StepView]): [string | undefined, string | undefined] {
  const texts = steps.map(({ activity }) =>
    activity?.requests
      .map(({ method, url, status, failure }) => `${method} ${url} ${failure ?? status ?? ""}`)
      .sort()
      .join("; "),
  );
  return texts.includes(undefined) ? [undefined, undefined] : [texts[0], texts[1]];
}

const keyOf = ({ kind, label, path }: StepView): string =>
  JSON.stringify([kind, label, path.match(/\[\d+\]/g)]);

/** Attempts of one run are numbered, and a good run may have had another number of them. */
const placeOf = ({ path, kind }: StepView): string => `${kind} ${path.replace(/^attempt\d+\//, "")}`;

type Unjudged = Omit<Pair, "differences">;

function pairsOf(good: readonly StepView[], now: readonly StepView[]): Unjudged[] {
  const pairs: Unjudged[] = [];
  let [from, to] = [0, 0];
  for (const [a, b] of [...alike(good.map(keyOf), now.map(keyOf)), [good.length, now.length] as const]) {
    pairs.push(...gap(good.slice(from, a), now.slice(to, b)));
    const [same, other] = [good[a], now[b]];
    if (same && other) pairs.push({ good: same, now: other });
    [from, to] = [a + 1, b + 1];
  }
  return pairs;
}

/** Steps between two pairs, which have no equal: those of one path and kind were renamed. */
function gap(good: readonly StepView[], now: readonly StepView[]): Unjudged[] {
  const pairs: Unjudged[] = [];
  let from = 0;
  for (const step of good) {
    const at = now.findIndex((one, i) => i >= from && placeOf(one) === placeOf(step));
    const other = step.path === "" ? undefined : now[at];
    if (!other) {
      pairs.push({ good: step });
      continue;
    }
    pairs.push(...now.slice(from, at).map((added) => ({ now: added })), { good: step, now: other });
    from = at + 1;
  }
  return [...pairs, ...now.slice(from).map((added) => ({ now: added }))];
}

/** The longest common subsequence, as pairs of indexes. What begins and ends alike needs no table. */
function alike(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [aEnd, bEnd] = [a.length - end, b.length - end];
  const between = common(a.slice(start, aEnd), b.slice(start, bEnd));
  return [
    ...Array.from({ length: start }, (_, at) => [at, at] as const),
    ...between.map(([i, j]) => [start + i, start + j] as const),
    ...Array.from({ length: end }, (_, at) => [aEnd + at, bEnd + at] as const),
  ];
}

function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const rest = restTable(a, b);
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; )
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (rest(i + 1, j) >= rest(i, j + 1)) i++;
    else j++;
  return pairs;
}

/** How many are alike from a place in both on. */
function restTable(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const ids = new Map([...a, ...b].map((key, id) => [key, id]));
  const [left = [], right = []] = [a, b].map((keys) => Int32Array.from(keys, (key) => ids.get(key) ?? -1));
  const width = b.length + 1;
  const cells = new Uint16Array((a.length + 1) * width);
  const rest = (i: number, j: number) => cells[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      cells[i * width + j] =
        left[i] === right[j] ? rest(i + 1, j + 1) + 1 : Math.max(rest(i + 1, j), rest(i, j + 1));
  return rest;
}
