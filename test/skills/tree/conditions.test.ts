import { translateCondition } from "@labwright/skills";
import { expect, test } from "vitest";
import { evaluateCondition, expressionProblem } from "#mcp-server/services/values/conditions.ts";

test.each([
  ["load.carrier_id is not null", "load.carrier_id != null"],
  ["load.carrier_id IS NULL", "load.carrier_id == null"],
  ["result.count == 0", "result.count == 0"],
  ["result.is_active == false", "result.is_active == false"],
  ["result.is_active = True and load.mode == 'OCEAN'", "result.is_active == true && load.mode == 'OCEAN'"],
  ["a.b is null or not a.c == 1", "a.b == null || !(a.c == 1)"],
  ["not (a == 1 and b <> 2)", "!((a == 1 && b != 2))"],
  ["load.mode in ('OCEAN', 'AIR')", "load.mode in ['OCEAN', 'AIR']"],
  ["load.mode not in ('OCEAN')", "!(load.mode in ['OCEAN'])"],
  ["x is not 'a'", "x != 'a'"],
  ["x == None", "x == null"],
  ["rows.exists(r, r.a = 1 or r.b is null)", "rows.exists(r, r.a == 1 || r.b == null)"],
])("%s becomes %s", (condition, cel) => {
  expect(translateCondition(condition)).toBe(cel);
  expect(expressionProblem(cel)).toBeUndefined();
});

test.each([
  ["name like 'a%'", /"like" is not an operator; write text\.contains/],
  ["n between 1 and 2", /"between" is not an operator/],
  ["(a == 1", /the bracket \( is not closed/],
  ["a == 1)", /the bracket \) closes nothing/],
  ["a == 'x", /a quote is not closed/],
])("%s is a problem", (condition, problem) => {
  expect(translateCondition(condition)).toEqual({ problem: expect.stringMatching(problem) });
});

/** Every sentence of a small grammar, with what it must give for a scope. */
const atoms = [
  ["a == 1", (s: Scope) => s.a === 1],
  ["a is null", (s: Scope) => s.a === null],
  ["b is not null", (s: Scope) => s.b !== null],
  ["not a == 2", (s: Scope) => s.a !== 2],
  ["b in ('x and y', 'is null')", (s: Scope) => s.b === "x and y" || s.b === "is null"],
  ["b = 'not (a or b)'", (s: Scope) => s.b === "not (a or b)"],
] as const;
type Scope = { a: number | null; b: string | null };
const scopes: Scope[] = [1, 2, null].flatMap((a) => ["x and y", "not (a or b)", null].map((b) => ({ a, b })));

test("joined, bracketed and negated conditions mean what they say, and translating twice changes nothing", () => {
  let count = 0;
  for (const [left, isLeft] of atoms)
    for (const [right, isRight] of atoms)
      for (const scope of scopes) {
        const holds = (condition: string) => {
          const cel = translateCondition(condition);
          if (typeof cel !== "string") throw new Error(cel.problem);
          expect(translateCondition(cel)).toBe(cel);
          count += 1;
          return evaluateCondition(cel, scope);
        };
        const [l, r] = [isLeft(scope), isRight(scope)];
        expect(holds(`${left} and ${right}`), `${left} and ${right}`).toBe(l && r);
        expect(holds(`(${left}) OR ${right}`)).toBe(l || r);
        expect(holds(`not (${left} and (${right}))`)).toBe(!(l && r));
      }
  expect(count).toBe(atoms.length ** 2 * scopes.length * 3);
});

test("what is CEL already stays as it is", () => {
  for (const cel of [
    "has(a.b) && a.b != null ? a.b : {'and': [1, 2], 'is': not_a}",
    "a.not.in == 1 && is == 2 && a.is.null",
    "[1, 2].exists(x, x >= 1 || !(x in y)) // a or b",
    'r"a\\b is null" == b && """x or y""" != \'\'',
    "a in (b.c)",
  ])
    expect(translateCondition(cel)).toBe(cel);
});
