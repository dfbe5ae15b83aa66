import { expect, test } from "vitest";
import {
  causeOf,
  classifications,
  type Facts,
  type FinishedRun,
  type Judgement,
  judge,
  type OtherRun,
  type PastRun,
  review,
  runStatuses,
} from "../../../agent-client/src/analysis/index.ts";
import { classificationSchema, executionStatusSchema } from "../../../mcp-server/src/domain/index.ts";
import { errorStatus } from "../../../mcp-server/src/errors.ts";

const minute = 60_000;
const noon = Date.parse("2026-03-01T12:00:00Z");
const iso = (minutes: number) => new Date(noon + minutes * minute).toISOString();

let ids = 0;
const run = (given: Partial<FinishedRun> & { error?: string; at?: number } = {}): FinishedRun => {
  const { error, at = 0, ...rest } = given;
  const status = rest.status ?? (error === undefined ? "passed" : "failed");
  ids += 1;
  return {
    execution_id: `run${ids}`,
    kind: "testcase",
    name: "checkout",
    device: "lab/box",
    userinterface: "shop",
    started_at: iso(at),
    verified_count: 2,
    steps: [
      { step: "open", status: "passed" },
      ...(status === "passed" ? [] : [{ step: "pay", status, ...(error !== undefined && { error }) }]),
    ],
    ...rest,
    status,
  };
};
const missing = (what = "Paid") =>
  `VERIFICATION_FAILED: expected the screen shows "${what}"; found Cart | Pay`;

const brief = (given: FinishedRun): OtherRun => {
  const { execution_id, name, status, device, userinterface, started_at } = given;
  const cause = causeOf(given);
  return {
    ...{ execution_id, name, status, device, started_at },
    ...(userinterface !== undefined && { userinterface }),
    ...(cause && { cause }),
  };
};
const past = (given: FinishedRun, build: PastRun["build"] = "same"): PastRun => ({ ...brief(given), build });
const judged = (facts: Partial<Facts> & { run: FinishedRun }): Judgement =>
  judge({ history: [], others: [], ...facts });
const row = (count: number, error: string | undefined, build: PastRun["build"], from: number) =>
  Array.from({ length: count }, (_, i) =>
    past(run({ at: from + i, ...(error !== undefined && { error }) }), build),
  );

test("knows the classes and the states that the server knows", () => {
  expect([...classifications].sort()).toEqual([...classificationSchema.options].sort());
  expect([...runStatuses].sort()).toEqual([...executionStatusSchema.options].sort());
});

test("a run that verified nothing is the test's fault", () => {
  const reason = { code: "NOTHING_VERIFIED", message: "No check was made." };
  expect(judged({ run: run({ status: "error", reason, steps: [] }) })).toMatchObject({
    classification: "SCRIPT_ISSUE",
  });
  expect(judged({ run: run({ verified_count: 0 }) })).toMatchObject({
    classification: "SCRIPT_ISSUE",
    confidence: 0.7,
  });
});

test("a pass counts when each of its steps passed", () => {
  expect(judged({ run: run() })).toMatchObject({ classification: "VALID_PASS", flaky: undefined });
  const skipped = run({ steps: [{ step: "pay", status: "skipped" }] });
  expect(judged({ run: skipped })).toMatchObject({ decided: false, evidence: ["pay: skipped"] });
});

test.each([
  "DEVICE_LOST: The browser ended.",
  "DEVICE_ERROR: adb: device offline",
  "DEVICE_HELD: anna has it.",
  "NAVIGATION_FAILED: net::ERR_NAME_NOT_RESOLVED at https://shop.test",
  "NAVIGATION_FAILED: net::ERR_CONNECTION_REFUSED at https://shop.test",
  "TOOL_FAILED: connect ECONNREFUSED 127.0.0.1:80",
])("%s is the lab's fault, whatever the history says", (error) => {
  const history = [...row(3, undefined, "same", -9), ...row(3, error, "same", -5)];
  expect(judged({ run: run({ error }), history })).toMatchObject({
    classification: "SYSTEM_ISSUE",
    flaky: false,
  });
});

test("a run that a fault of the lab ended is the lab's, though no step says so", () => {
  const reason = { code: "INTERRUPTED", message: "The server ended while this ran." };
  expect(judged({ run: run({ status: "error", reason, steps: [] }) })).toMatchObject({
    classification: "SYSTEM_ISSUE",
  });
});

test("what a page says does not make it the lab's fault", () => {
  const error = 'VERIFICATION_FAILED: expected the screen shows "Paid"; found ECONNREFUSED device offline';
  expect(judged({ run: run({ error }) })).toMatchObject({ decided: false });
});

test("a test that asks for what there is not is wrong itself", () => {
  const error = 'NODE_NOT_FOUND: There is no node "pay".';
  expect(judged({ run: run({ error }) })).toMatchObject({ classification: "SCRIPT_ISSUE", flaky: false });
});

test("each code that blames the lab or the test is one of the server's", () => {
  for (const code of Object.keys(errorStatus)) {
    const { fault } = causeOf(run({ error: `${code}: x` })) ?? {};
    if (/^(BROWSER|LEASE|DEVICE_(ERROR|HELD)|CONTROLLER)/.test(code)) expect(fault, code).toBe("lab");
    if (/^(VERIFICATION_FAILED|ELEMENT_NOT_FOUND|EXECUTION_TIMEOUT)$/.test(code))
      expect(fault, code).toBeUndefined();
  }
});

test("failing and passing on one build is flaky, with the counts and Wilson's interval", () => {
  const history = [...row(3, undefined, "same", -9), ...row(1, missing("Sum"), "same", -5)];
  const judgement = judged({ run: run({ error: missing() }), history });
  expect(judgement).toMatchObject({
    classification: "SCRIPT_ISSUE",
    flaky: true,
    summary: expect.stringMatching(/^Flaky: 2 of 5 runs/),
    confidence: 2 / 3,
  });
  expect(judgement.evidence.join("\n")).toMatch(/12 % to 77 % .*Wilson/);
});

test("more flips make it surer", () => {
  const history = [-5, -4, -3, -2].map((at) => past(run({ at, ...(at % 2 === 0 && { error: missing() }) })));
  const judgement = judged({ run: run({ error: missing() }), history: [...history, past(run({ at: -1 }))] });
  expect(judgement).toMatchObject({ flaky: true, confidence: 6 / 7 });
});

test("a failure of the lab, and one that was judged the app's, are no flips", () => {
  const failed = past(run({ at: -1, error: missing() }));
  const history = [
    past(run({ at: -2, error: "DEVICE_LOST: gone" })),
    { ...failed, classification: "BUG" as const },
  ];
  expect(judged({ run: run(), history })).toMatchObject({ classification: "VALID_PASS", flaky: undefined });
  expect(judged({ run: run(), history: [failed] })).toMatchObject({ flaky: true });
});

test("a pass of another build makes no flake", () => {
  const history = row(5, undefined, "other", -9);
  expect(judged({ run: run({ error: missing() }), history })).toMatchObject({
    decided: false,
    reruns_wanted: 2,
  });
});

test("without a build, one change that broke it and one that mended it are not ruled out", () => {
  const history = [
    ...row(2, undefined, "unknown", -9),
    ...row(2, missing(), "unknown", -6),
    ...row(1, undefined, "unknown", -3),
  ];
  expect(judged({ run: run({ error: missing() }), history })).toMatchObject({ flaky: true });
  const twice = history.slice(0, 4);
  expect(judged({ run: run({ at: -1 }), history: twice })).toMatchObject({
    classification: "VALID_PASS",
    flaky: undefined,
  });
});

test("the same finding each time since it last passed is a bug once a flake is out of the question", () => {
  const before = row(10, undefined, "other", -30);
  expect(judged({ run: run({ error: missing() }), history: before })).toMatchObject({
    decided: false,
    reruns_wanted: 1,
  });
  const history = [...before, ...row(1, missing(), "same", -2)];
  const judgement = judged({ run: run({ error: missing() }), history });
  expect(judgement).toMatchObject({ classification: "BUG", flaky: false });
  expect(judgement.evidence.join("\n")).toContain("0.0095");
  const other = [...before, ...row(1, missing("Sum"), "same", -2)];
  expect(judged({ run: run({ error: missing() }), history: other })).toMatchObject({ decided: false });
});

test("a row that was judged goes on", () => {
  const before = row(10, undefined, "other", -30);
  const known = row(2, missing(), "other", -5).map((one) => ({ ...one, classification: "BUG" as const }));
  const judgement = judged({ run: run({ error: missing() }), history: [...before, ...known] });
  expect(judgement).toMatchObject({
    classification: "BUG",
    summary: expect.stringContaining("each of 3 times"),
  });
});

test("a test that never passed fails rightly, whoever is wrong", () => {
  const history = row(6, missing(), "other", -30);
  expect(judged({ run: run({ error: missing() }), history })).toMatchObject({ classification: "VALID_FAIL" });
});

const neighbours = (count: number, error: string, more: Partial<FinishedRun> = {}) =>
  Array.from({ length: count }, (_, i) => brief(run({ name: `other ${i}`, at: i, error, ...more })));

test("three tests that fail alike at one time are one cause and no flakes, also against their history", () => {
  const history = row(3, undefined, "same", -9);
  const others = neighbours(2, missing());
  expect(judged({ run: run({ error: missing() }), history, others })).toMatchObject({
    classification: "BUG",
    flaky: false,
    members: others.map(({ execution_id }) => execution_id),
  });
  expect(judged({ run: run({ error: missing() }), history, others: others.slice(1) })).toMatchObject({
    flaky: true,
  });
});

test("alike on one device but in several apps, or only slow, is the lab's", () => {
  const apps = neighbours(2, missing(), { userinterface: "radio" });
  expect(judged({ run: run({ error: missing() }), others: apps })).toMatchObject({
    classification: "SYSTEM_ISSUE",
  });
  const slow = "EXECUTION_TIMEOUT: The run took longer than its 60000 ms.";
  const alike = neighbours(2, slow.replace("60000", "90000"));
  expect(judged({ run: run({ error: slow }), others: alike })).toMatchObject({
    classification: "SYSTEM_ISSUE",
  });
});

test("slow tests among many that are not are no cluster, nor are errors that say nothing", () => {
  const slow = "EXECUTION_TIMEOUT: The run took longer than its 60000 ms.";
  const fine = Array.from({ length: 6 }, (_, i) => brief(run({ name: `fine ${i}` })));
  expect(judged({ run: run({ error: slow }), others: [...neighbours(2, slow), ...fine] })).toMatchObject({
    decided: false,
  });
  for (const error of [
    "VERIFICATION_FAILED: expected true; found false",
    "SCRIPT_FAILED: The script ended with exit code 1.",
  ])
    expect(judged({ run: run({ error }), others: neighbours(4, error) }), error).toMatchObject({
      decided: false,
    });
});

test("what failed alike long before, or elsewhere, is no cluster", () => {
  const facts = { run: run({ error: missing() }) };
  expect(judged({ ...facts, others: neighbours(4, missing(), { started_at: iso(-60) }) })).toMatchObject({
    decided: false,
  });
  const elsewhere = neighbours(4, missing(), { device: "lab/tv", userinterface: "radio" });
  expect(judged({ ...facts, others: elsewhere })).toMatchObject({ decided: false });
});

test("numbers and ids do not make two causes, names do", () => {
  const text = (error: string) => causeOf(run({ error }))?.text;
  expect(text('COMMAND_TIMEOUT: "Pay" did not appear within 5003 ms (e12)')).toBe(
    text('COMMAND_TIMEOUT: "Pay" did not appear within 4999 ms (e7)'),
  );
  expect(text('ELEMENT_NOT_FOUND: No element "row 1".')).not.toBe(
    text('ELEMENT_NOT_FOUND: No element "row 2".'),
  );
  expect(text("TOOL_FAILED: job 0f8fad5b-d9cb-469f-a165-70867728950e")).toBe(
    text("TOOL_FAILED: job 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
  );
});

test("a run that was stopped, or that goes on, is not judged", () => {
  for (const status of ["cancelled", "running", "queued"] as const)
    expect(judged({ run: run({ status }), history: row(3, undefined, "same", -9) })).toMatchObject({
      decided: false,
    });
});

test("odd records are no reason to fail", () => {
  for (const steps of [
    [],
    [{ step: "", status: "failed" }],
    [{ step: "x", status: "failed", error: "no code" }],
  ])
    expect(judged({ run: run({ status: "failed", steps }) })).toMatchObject({ decided: false });
  const endless = `VERIFICATION_FAILED: expected ${"x".repeat(100_000)}`;
  expect(causeOf(run({ error: endless }))?.text.length).toBeLessThan(400);
});

test("the rerun that passes decides the failure that waited for it", async () => {
  const failed = run({ at: -5, error: missing() });
  const rerun = run();
  const source = { run: async () => failed, history: async () => [past(failed)], around: async () => [] };
  expect(await review(rerun, source)).toMatchObject({
    judgement: { classification: "VALID_PASS", flaky: true },
    others: [
      { execution_id: failed.execution_id, judgement: { classification: "SCRIPT_ISSUE", flaky: true } },
    ],
  });
});

test("the third of a cluster decides the two before it, and leaves alone what is judged", async () => {
  const [first, second] = neighbours(2, missing());
  const others = [first, second].flatMap((one) => (one ? [one] : []));
  const source = (around: OtherRun[]) => ({
    run: async () => run(),
    history: async () => [],
    around: async () => around,
  });
  const third = run({ error: missing() });
  expect((await review(third, source(others))).others.map(({ execution_id }) => execution_id)).toEqual(
    others.map(({ execution_id }) => execution_id),
  );
  const judgedAlready = others.map((one) => ({ ...one, classification: "BUG" as const }));
  expect((await review(third, source(judgedAlready))).others).toEqual([]);
});

test("a pass that needed another try is a right one of a flaky test, unless the lab was at fault", () => {
  const tried = (code: string) =>
    run({
      attempts: [
        { status: "failed", reason: { code, message: "expected Paid; found Cart" } },
        { status: "passed" },
      ],
      steps: [
        { step: "pay", status: "failed", error: `${code}: expected Paid; found Cart` },
        { step: "attempt2/pay", status: "passed" },
      ],
    });
  const flaky = judge({ run: tried("VERIFICATION_FAILED"), history: [], others: [] });
  expect(flaky).toMatchObject({ decided: true, classification: "VALID_PASS", flaky: true });
  expect(flaky.summary).toContain("It took 2 attempts.");
  const lab = judge({ run: tried("DEVICE_LOST"), history: [], others: [] });
  expect(lab).toMatchObject({ decided: true, classification: "VALID_PASS", flaky: undefined });
});

test("a flaky pass of the history counts as a failure and a pass", () => {
  const failed = run({ error: missing(), at: 10 });
  const past = { ...brief(run({ at: 0 })), build: "same" as const };
  const alone = judge({ run: failed, history: [past], others: [] });
  const after = judge({ run: failed, history: [{ ...past, flaky: true }], others: [] });
  expect(after).toMatchObject({ decided: true, classification: "SCRIPT_ISSUE", flaky: true });
  expect(after.evidence[0]).toContain("2 flips");
  expect(alone.evidence[0]).not.toContain("2 flips");
});
