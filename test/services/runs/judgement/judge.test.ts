import { errors } from "@labwright/mcp-server";
import { expect, test } from "vitest";
import { causeOf, type Facts, type Judgement, judge } from "#mcp-server/services/runs/judgement/index.ts";
import type { RunRecord } from "#mcp-server/storage/index.ts";
import { runOf } from "../../../fixtures/executionRecords.ts";
import { memoryStore, type RunStore } from "./records.ts";

const minute = 60_000;
const noon = Date.parse("2026-03-01T12:00:00Z");
const iso = (minutes: number) => new Date(noon + minutes * minute).toISOString();

const errorOf = (text: string) => {
  const [, code = "", message = ""] = /^(\w+): ([\s\S]*)$/.exec(text) ?? [];
  return { code, message };
};

let ids = 0;
const run = (given: Partial<RunRecord> & { error?: string; at?: number } = {}): RunRecord => {
  const { error, at = 0, ...rest } = given;
  const status = rest.status ?? (error === undefined ? "passed" : "failed");
  const stepStatus = status === "queued" || status === "running" ? "skipped" : status;
  ids += 1;
  return {
    id: `run${ids}`,
    kind: "testcase",
    name: "checkout",
    device: "lab/box",
    userinterface: "shop",
    build: "7",
    started_at: iso(at),
    verified_count: 2,
    unpassed:
      status === "passed"
        ? []
        : [{ path: "pay", label: "pay", status: stepStatus, ...(error && { error: errorOf(error) }) }],
    ...rest,
    status,
  };
};
const missing = (what = "Paid") =>
  `VERIFICATION_FAILED: expected the screen shows "${what}"; found Cart | Pay`;

type Build = "same" | "other" | "unknown";
const past = (given: RunRecord, build: Build = "same"): RunRecord => {
  const { build: own, ...rest } = given;
  return build === "unknown" ? rest : { ...rest, build: build === "same" ? "7" : "6" };
};
const judged = (facts: Partial<Facts> & { run: RunRecord }): Judgement =>
  judge({ history: [], others: [], ...facts });
const row = (count: number, error: string | undefined, build: Build, from: number) =>
  Array.from({ length: count }, (_, i) =>
    past(run({ at: from + i, ...(error !== undefined && { error }) }), build),
  );

test("a run that verified nothing is the test's fault", () => {
  const reason = { code: "NOTHING_VERIFIED", message: "No check was made." };
  expect(judged({ run: run({ status: "error", reason, unpassed: [] }) })).toMatchObject({
    classification: "SCRIPT_ISSUE",
  });
  expect(judged({ run: run({ verified_count: 0 }) })).toMatchObject({
    classification: "SCRIPT_ISSUE",
    confidence: 0.7,
  });
});

test("a pass counts when each of its steps passed", () => {
  expect(judged({ run: run() })).toMatchObject({ classification: "VALID_PASS", flaky: undefined });
  const skipped = run({ unpassed: [{ path: "", label: "pay", status: "skipped" }] });
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
  expect(judged({ run: run({ status: "error", reason, unpassed: [] }) })).toMatchObject({
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
  for (const code of Object.keys(errors)) {
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

test("a failure of the lab, and one that was judged the app's, are not flips", () => {
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

test("without a build, one change that broke it and one that repaired it are not ruled out", () => {
  const history = [
    ...row(2, undefined, "unknown", -9),
    ...row(2, missing(), "unknown", -6),
    ...row(1, undefined, "unknown", -3),
  ];
  const failed = past(run({ error: missing() }), "unknown");
  expect(judged({ run: failed, history })).toMatchObject({ flaky: true });
  const twice = history.slice(0, 4);
  expect(judged({ run: past(run({ at: -1 }), "unknown"), history: twice })).toMatchObject({
    classification: "VALID_PASS",
    flaky: undefined,
  });
  expect(judged({ run: failed, history: row(1, missing(), "unknown", -3) }).summary).toContain(
    "No build is known of its runs.",
  );
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

const neighbours = (count: number, error: string, more: Partial<RunRecord> = {}) =>
  Array.from({ length: count }, (_, i) => run({ name: `other ${i}`, at: i, error, ...more }));

test("three tests that fail alike at one time are one cause and no flakes, also against their history", () => {
  const history = row(3, undefined, "same", -9);
  const others = neighbours(2, missing());
  expect(judged({ run: run({ error: missing() }), history, others })).toMatchObject({
    classification: "BUG",
    flaky: false,
    members: others.map(({ id }) => id),
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

test("slow tests among many that are not are not a cluster, nor are errors that say nothing", () => {
  const slow = "EXECUTION_TIMEOUT: The run took longer than its 60000 ms.";
  const fine = Array.from({ length: 6 }, (_, i) => run({ name: `fine ${i}` }));
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

test("what failed alike elsewhere is not a cluster", () => {
  const facts = { run: run({ error: missing() }) };
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

test("odd records are not a reason to fail", () => {
  for (const unpassed of [[], [{ path: "", label: "", status: "failed" as const }]])
    expect(judged({ run: run({ status: "failed", unpassed }) })).toMatchObject({ decided: false });
  const endless = `VERIFICATION_FAILED: expected ${"x".repeat(100_000)}`;
  expect(causeOf(run({ error: endless }))?.text.length).toBeLessThan(400);
});

/** A store of failed tests by name, in the order given, a minute apart; those of no error passed. */
async function storeOf(...tests: [name: string, error?: string][]): Promise<RunStore> {
  const store = memoryStore();
  for (const [i, [name, error]] of tests.entries()) {
    const status = error === undefined ? ("passed" as const) : ("failed" as const);
    const facts = { name, userinterface: "shop", build: "7", started_at: iso(i), end: { status } } as const;
    const failed = { path: "", label: "pay", status, error: errorOf(error ?? "") } as const;
    const step = { index: 0, kind: "check", started_at: iso(i), duration_ms: 1, artifacts: [] };
    const steps = error === undefined ? [] : [{ ...step, ...failed, input: {}, output: {} }];
    await store.add({ ...runOf(`run${i}`, facts), steps });
  }
  return store;
}

test("the rerun that passes decides the failure that waited for it", async () => {
  const store = await storeOf(["checkout", missing()], ["checkout"]);
  expect(await store.judge("run1")).toMatchObject([
    { execution_id: "run1", classification: "VALID_PASS", flaky: true },
    { execution_id: "run0", classification: "SCRIPT_ISSUE", flaky: true },
  ]);
});

test("the third of a cluster decides the two before it, and leaves alone what is judged", async () => {
  const store = await storeOf(["one", missing()], ["two", missing()], ["checkout", missing()]);
  const [judged] = await store.judge("run2");
  expect(judged).toMatchObject({ classification: "BUG" });
  if (!judged) throw new Error("There is no judgement.");
  expect(judged.members.toSorted()).toEqual(["run0", "run1"]);
  await store.write("run0", judged);
  expect(await store.judge("run2")).toMatchObject([{ members: ["run1"] }]);
  expect(await store.judge("run0")).toMatchObject([{ classified: "BUG" }]);
});

test("a model gets what it needs to decide: the classes that the verdict allows, and the test's other runs", async () => {
  const store = await storeOf(["checkout", missing()], ["checkout", missing("Sum")]);
  expect(await store.judge("run1")).toEqual([
    {
      ...{ execution_id: "run1", kind: "testcase", name: "checkout", status: "failed", decided: false },
      summary: "It failed 2 times, not alike; that can be the app or the test.",
      evidence: [expect.stringMatching(/^run0 VERIFICATION_FAILED/), expect.stringMatching(/^run1 /)],
      members: [],
      reruns_wanted: expect.any(Number),
      allowed: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
      history: ["run0 failed, same build"],
    },
  ]);
});

test("a pass that needed another try is a right one of a flaky test, unless the lab was at fault", () => {
  const tried = (code: string) =>
    run({
      attempts: [
        { id: "1", status: "failed", reason: { code, message: "expected Paid; found Cart" }, duration_ms: 1 },
        { id: "2", status: "passed", duration_ms: 1 },
      ],
      unpassed: [{ path: "pay", label: "pay", status: "failed" }],
    });
  const flaky = judge({ run: tried("VERIFICATION_FAILED"), history: [], others: [] });
  expect(flaky).toMatchObject({ decided: true, classification: "VALID_PASS", flaky: true });
  expect(flaky.summary).toContain("It took 2 attempts.");
  const lab = judge({ run: tried("DEVICE_LOST"), history: [], others: [] });
  expect(lab).toMatchObject({ decided: true, classification: "VALID_PASS", flaky: undefined });
});

test("a flaky pass of the history counts as a failure and a pass", () => {
  const failed = run({ error: missing(), at: 10 });
  const passed = run({ at: 0 });
  const attempts = [
    { id: "1", status: "failed" as const, duration_ms: 1 },
    { id: "2", status: "passed" as const, duration_ms: 1 },
  ];
  const alone = judge({ run: failed, history: [passed], others: [] });
  const after = judge({ run: failed, history: [{ ...passed, attempts }], others: [] });
  expect(after).toMatchObject({ decided: true, classification: "SCRIPT_ISSUE", flaky: true });
  expect(after.evidence[0]).toContain("2 flips");
  expect(alone.evidence[0]).not.toContain("2 flips");
});
