import { expect, it } from "vitest";
import type { StepView } from "#mcp-server/domain/index.ts";
import { compareSteps } from "#mcp-server/services/runs/reports/compare.ts";

type Given = Partial<StepView> & { label: string };

const stepsOf = (given: readonly (Given | string)[]): StepView[] =>
  given.map((one, index) => ({
    ...{ index, path: `step${index + 1}`, kind: "action", status: "passed" },
    ...{ started_at: "2026-11-28T10:00:00.000Z", duration_ms: 100, pictures: [], files: [] },
    ...(typeof one === "string" ? { label: one } : one),
  }));

/** Each pair as its labels, with what differs; and the first that does. */
function compared(good: readonly (Given | string)[], now: readonly (Given | string)[]) {
  const { pairs, first } = compareSteps(stepsOf(good), stepsOf(now));
  const lines = pairs.map(({ good: a, now: b, differences }) =>
    [`${a?.label ?? "-"}|${b?.label ?? "-"}`, ...differences.map(({ what }) => what)].join(" "),
  );
  return { lines, first };
}

it("pairs steps around one that was added, removed or renamed", () => {
  expect(compared(["a", "b", "c"], ["a", "new", "b", "c"])).toEqual({
    lines: ["a|a", "-|new added", "b|b", "c|c"],
    first: 1,
  });
  expect(compared(["a", "b", "c", "d"], ["a", "c", "d"])).toEqual({
    lines: ["a|a", "b|- missing", "c|c", "d|d"],
    first: 1,
  });
  expect(compared(["a", "b", "c"], ["a", "B", "c"])).toEqual({
    lines: ["a|a", "b|B renamed", "c|c"],
    first: 1,
  });
  // The same key is pressed several times: the check between them keeps them apart.
  expect(compared(["OK", "check", "OK"], ["OK", "OK", "check", "OK"]).lines).toEqual([
    "OK|OK",
    "-|OK added",
    "check|check",
    "OK|OK",
  ]);
  expect(compared([], ["a"])).toEqual({ lines: ["-|a added"], first: 0 });
  expect(compared(["a"], ["a"])).toEqual({ lines: ["a|a"], first: -1 });
});

it("pairs rounds of a loop by their number, and attempts whatever theirs is", () => {
  const rounds = (count: number): Given[] =>
    Array.from({ length: count }, (_, n) => ({ label: "zap", path: `loop1[${n}]/zap` }));
  expect(compared([...rounds(3), "end"], [...rounds(1), "end"]).lines).toEqual([
    "zap|zap",
    "zap|- missing",
    "zap|- missing",
    "end|end",
  ]);
  expect(compared([{ label: "a", path: "step1" }], [{ label: "A", path: "attempt2/step1" }]).lines).toEqual([
    "a|A renamed",
  ]);
});

it("says what differs, and takes pictures and times for the first difference only if nothing else is", () => {
  const picture = (uri: string) => ({ pictures: [{ uri, caption: "after" }] });
  const failed: Given = {
    ...{ label: "check", status: "failed", duration_ms: 5_000, notices: ["page error"] },
    finding: { expected: "Paid", found: "Declined", nearest: [] },
  };
  const good: Given[] = [{ label: "open", ...picture("artifact://a") }, { label: "check" }];
  const now: Given[] = [{ label: "open", ...picture("artifact://b") }, failed];
  expect(compared(good, now)).toEqual({
    lines: ["open|open picture", "check|check status found notices time"],
    first: 1,
  });
  expect(compared(good.slice(0, 1), now.slice(0, 1)).first).toBe(0);
  // 400 ms more are noise, and so is a quarter of a slow step.
  expect(compared(["a"], [{ label: "a", duration_ms: 500 }]).first).toBe(-1);
  expect(compared([{ label: "a", duration_ms: 4_000 }], [{ label: "a", duration_ms: 5_000 }]).first).toBe(-1);
  const asked = (status: number): Partial<StepView> => ({
    activity: { console: [], requests: [{ at: "", method: "GET", url: "/pay", type: "fetch", status }] },
  });
  // A step that passed keeps no requests, so it says nothing of them.
  expect(compared([{ label: "a", ...asked(200) }], [{ label: "a", ...asked(500) }]).lines).toEqual([
    "a|a requests",
  ]);
  expect(compared(["a"], [{ label: "a", ...asked(500) }]).lines).toEqual(["a|a"]);
});

it("compares runs of 5,000 steps", () => {
  const labels = Array.from({ length: 5_000 }, (_, n) => `step ${n % 700}`);
  const { lines, first } = compared(labels, ["before", ...labels.toSpliced(2_500, 1)]);
  expect(first).toBe(0);
  expect(lines.filter((line) => / /.test(line.replaceAll("step ", ""))).length).toBeLessThanOrEqual(3);
});
