import type { Hostile, HostileSite } from "./hostile.ts";

const ten = "[1,2,3,4,5,6,7,8,9,10]";
const nested = (macro: string, depth: number): string =>
  depth === 0 ? "true" : `${ten}.${macro}(x${depth}, ${nested(macro, depth - 1)})`;
const chained = (step: string, count: number): string => `[1,2]${`.${step}`.repeat(count)}`;
const sum = (term: string, count: number): string => Array.from({ length: count }, () => term).join(" + ");

/** Steps of a test case, by name. */
const conditions: Record<string, string> = {
  "deep brackets": `${"(".repeat(900)}1${")".repeat(900)} == 1`,
  "deep lists": `size(${"[".repeat(900)}${"]".repeat(900)}) > 0`,
  "a long chain of or": Array.from({ length: 180 }, () => "1 == 2").join(" || "),
  "a pattern": `'${"a".repeat(900)}!'.matches('^(a+)+$')`,
  "a long pattern": `'${"a".repeat(400)}!'.matches('${"(a?)".repeat(150)}$')`,
};
for (const macro of ["map", "filter", "all", "exists", "exists_one"])
  for (const depth of [4, 6, 9, 20])
    conditions[`${macro} in ${macro}, ${depth} deep`] = `size([${nested(macro, depth)}]) > 0`;

/** Values that are kept, so written out. */
const values: Record<string, string> = {};
for (const count of [8, 16, 24, 30, 48]) {
  values[`${count} maps that double`] = chained("map(x, [x, x])", count);
  values[`${count} maps that add to themselves`] = chained("map(x, [x] + [x, x])", count);
  values[`${count} maps of texts that double`] = `['ab']${".map(x, x + x)".repeat(count)}`;
}

/** Variables that grow with each round of a loop. */
const growing: Readonly<Record<string, readonly [string, string]>> = {
  "a text that doubles": ["ab", "{{v + v}}"],
  "a text that grows tenfold": ["ab", `{{${sum("v", 10)}}}`],
  "a list that doubles": ["{{[1, 2]}}", "{{v + v}}"],
  "a list of itself": ["{{[1, 2]}}", "{{[v, v]}}"],
  "a list of lists": ["{{[1, 2]}}", "{{v.map(x, v)}}"],
  "a list that is filtered and doubles": ["{{[1, 2]}}", "{{v.filter(x, true) + v}}"],
  "a text written twice": ["ab", "{{v}}{{v}}"],
  "a list written as text": ["{{[1, 2]}}", "{{v}} {{v}}"],
  "a text of three parts": ["ab", "{{[v, v, v].map(x, x + x + x)[2]}}"],
  "a text of parts": ["ab", "{{[v, v].map(x, x + x)[0]}}"],
};

/** A test must check something, so it begins with a request. */
function testOf(testcase: string, name: string, steps: readonly object[], site: HostileSite): Hostile {
  const checked = { api_request: { method: "GET", url: site.url("/json"), checks: [{ status: 200 }] } };
  return {
    kind: "expression",
    name,
    calls: [
      { tool: "save_testcase", input: { testcase: { name: testcase, steps: [checked, ...steps] } } },
      { tool: "execute_testcase", input: { testcase } },
    ],
  };
}

export function hostileExpressions(site: HostileSite): Hostile[] {
  const tests: (readonly [string, readonly object[]])[] = [
    ...Object.entries(conditions).map(([name, condition]) => [name, [{ condition }]] as const),
    ...Object.entries(values).map(([name, value]) => [name, [{ set: { v: `{{${value}}}` } }]] as const),
    ...Object.entries(growing).map(([name, [first, next]]) => {
      const rounds = { repeat: 60, steps: [{ set: { v: next } }] };
      return [name, [{ set: { v: first } }, rounds]] as const;
    }),
  ];
  return tests.map(([name, steps], index) => testOf(`hostile ${index}`, name, steps, site));
}
