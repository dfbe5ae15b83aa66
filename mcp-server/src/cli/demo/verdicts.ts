import type { Implementation } from "./todomvc.ts";

export type Verdict = {
  implementation: string;
  testcase: string;
  executionId: string;
  status: string;
  durationMs: number;
  /** The reason, if it did not pass. */
  found: string;
};

export type Judgement = { verdict: Verdict; isExpected: boolean; remark: string };

/** A failed verdict is right where the implementation is known to break the specification there, and a pass elsewhere. */
export function judge(verdict: Verdict, { breaks }: Pick<Implementation, "breaks">): Judgement {
  const known = breaks[verdict.testcase];
  if (verdict.status === "passed") {
    const remark = known === undefined ? "" : `unexpected: it was known that ${known}`;
    return { verdict, isExpected: known === undefined, remark };
  }
  const isExpected = verdict.status === "failed" && known !== undefined;
  const remark = isExpected ? `breaks the spec: ${known} (${verdict.found})` : `unexpected: ${verdict.found}`;
  return { verdict, isExpected, remark };
}

/** Lines of a table whose columns are as wide as the longest of `names` and `testcases`. */
export type Table = { head(): string; row(judgement: Judgement): string };

export function verdictTable(names: readonly string[], testcases: readonly string[]): Table {
  const widths = [
    Math.max(...["implementation", ...names].map((name) => name.length)),
    Math.max(...["test case", ...testcases].map((name) => name.length)),
    "cancelled".length,
    "1,000.0 s".length,
  ];
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 3 ? cell.padStart(widths[3] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return {
    head: () =>
      `${line(["implementation", "test case", "verdict", "time"])}\n${line(widths.map((width) => "-".repeat(width)))}`,
    row: ({ verdict, remark }) =>
      line([
        verdict.implementation,
        verdict.testcase,
        verdict.status,
        `${(verdict.durationMs / 1_000).toFixed(1)} s`,
        remark,
      ]),
  };
}

/** One line an implementation, in the order they ran. */
export function countLines(judgements: readonly Judgement[]): string[] {
  const names = [...new Set(judgements.map(({ verdict }) => verdict.implementation))];
  return names.map((name) => {
    const own = judgements.filter(({ verdict }) => verdict.implementation === name);
    const passed = own.filter(({ verdict }) => verdict.status === "passed").length;
    const unexpected = own.filter(({ isExpected }) => !isExpected).length;
    const note = unexpected > 0 ? `, ${unexpected} not as expected` : "";
    return `${name}: ${passed} of ${own.length} passed${note}`;
  });
}
