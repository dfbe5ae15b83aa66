import type { Classification } from "#mcp-server/domain/index.ts";
import { mostReruns } from "#mcp-server/services/runs/judgement/index.ts";
import type { FinishedRun } from "#mcp-server/storage/rows/executionRows.ts";
import { runOf } from "../../../fixtures/executionRecords.ts";
import type { Judged, RunStore } from "./records.ts";

/** What a made-up test is like; `p` is how often it fails of its own accord. */
export type Nature =
  | { kind: "moody"; p: 0 | 0.02 | 0.1 | 0.3 | 1; alwaysAlike: boolean }
  | { kind: "cluster"; night: number; error: string }
  | { kind: "break"; build: number };

export type SuiteTest = {
  name: string;
  nature: Nature;
  device: string;
  userinterface: string;
  /** What came of it. */
  ownFailures: number;
  reruns: number;
  calledFlaky: boolean;
  classes: Set<Classification>;
};

type Failure = { step: string; error: string; status: "failed" | "error" | "timeout" };
type Stored = { run: FinishedRun; build: number; classification?: Classification };

const nights = 6;
const minute = 60_000;
const environmentRate = 0.02;
/** Some moody tests fail in the words of the lab. */
const lentShare = 0.05;
const steps = ["open app", "sign in", "search", "open details", "add to cart", "check total"];

/** mulberry32: the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const clusterErrors = [
  'VERIFICATION_FAILED: expected the screen shows "Sign in"; found Oops | Reload',
  "REQUEST_TIMEOUT: The server did not answer within 30000 ms.",
];

/** 60 tests on three devices and six apps. */
function tests(): SuiteTest[] {
  const moody = (p: 0 | 0.02 | 0.1 | 0.3 | 1, count: number): Nature[] =>
    Array.from({ length: count }, (_, i) => ({ kind: "moody", p, alwaysAlike: i % 3 === 0 }));
  const cluster = (night: number, error: string | undefined, count: number): Nature[] =>
    Array.from({ length: count }, () => ({ kind: "cluster", night, error: error ?? "" }));
  const breaks = [1, 2, 2, 3, 4, 5].map((build): Nature => ({ kind: "break", build }));
  const rest: Nature[] = [
    ...[...moody(0, 19), ...moody(0.02, 7), ...moody(0.1, 7), ...moody(0.3, 7), ...moody(1, 3)],
    ...breaks,
  ];
  // Each app has ten; those of a cluster are of one app, the others are spread.
  const apps: Nature[][] = Array.from({ length: 6 }, () => []);
  apps[0]?.push(...cluster(2, clusterErrors[0], 5));
  apps[1]?.push(...cluster(4, clusterErrors[1], 6));
  for (const nature of rest) apps.toSorted((a, b) => a.length - b.length)[0]?.push(nature);
  return apps.flatMap((natures, app) =>
    natures.map((nature, i) => ({
      name: `app${app} test ${i}`,
      nature,
      device: `lab/box-${app % 3}`,
      userinterface: `app${app}`,
      ...{ ownFailures: 0, reruns: 0, calledFlaky: false, classes: new Set<Classification>() },
    })),
  );
}

const environment: readonly Failure[] = [
  { step: "open app", error: "DEVICE_LOST: The browser ended.", status: "error" },
  { step: "sign in", error: "DEVICE_ERROR: adb: device offline", status: "error" },
  {
    step: "open app",
    error: "NAVIGATION_FAILED: net::ERR_NAME_NOT_RESOLVED at https://shop.test",
    status: "error",
  },
  { step: "", error: "INTERRUPTED: The server ended while this ran.", status: "error" },
  { step: "", error: "LEASE_LOST: anna took the device.", status: "error" },
];

type Happened = { build: number; at: number; failure: Failure | undefined };

function finishedRun(test: SuiteTest, id: string, { build, at, failure }: Happened): FinishedRun {
  const reached = failure ? steps.indexOf(failure.step) : steps.length;
  const [, code = "", message = ""] = /^(\w+): (.*)$/.exec(failure?.error ?? "") ?? [];
  const reason = { code, message };
  const started_at = new Date(at).toISOString();
  const { name, device, userinterface } = test;
  const verified_count = Math.max(1, reached);
  const end = { status: failure?.status ?? ("passed" as const), verified_count, ...(failure && { reason }) };
  const passed = steps.slice(0, Math.max(0, reached)).map((label) => ({ label, status: "passed" as const }));
  const missed =
    failure && failure.step !== "" ? [{ label: failure.step, status: failure.status, error: reason }] : [];
  return {
    ...runOf(id, { name, device, userinterface, build: String(build), started_at, end }),
    steps: [...passed, ...missed].map((step, index) => ({
      ...{ index, path: "", kind: "check", started_at, duration_ms: 1, input: {}, output: {}, artifacts: [] },
      ...step,
    })),
  };
}

/**
 * Runs the suite of one seed to its end: nights of one build each, then reruns of what is undecided, at most ten a test.
 * `silentShare` of the lab's faults do not say that they are: they look like a flake in every record.
 */
export async function runSuite(store: RunStore, seed: number, silentShare = 0): Promise<SuiteTest[]> {
  const next = random(seed);
  const suite = tests();
  let stored = 0;
  const byName = new Map<string, Stored[]>();
  const byId = new Map<string, Stored>();
  const owners = new Map(suite.map((test) => [test.name, test]));
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(next() * from.length)];
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low));

  function moodyFailure({ name }: SuiteTest, alike: boolean): Failure {
    const sort = alike ? 0.5 : next();
    const step = (alike ? steps[2] : pick(steps)) ?? "";
    if (sort < 0.2)
      return {
        step: "",
        error: "EXECUTION_TIMEOUT: The run took longer than its 60000 ms.",
        status: "timeout",
      };
    if (sort < 0.7)
      return {
        step,
        error: `COMMAND_TIMEOUT: "${name} ${step}" did not appear within ${between(4_900, 5_100)} ms.`,
        status: "error",
      };
    return {
      step,
      error: `VERIFICATION_FAILED: expected the screen shows "${name} ${step}"; found ${between(0, 99)} items`,
      status: "failed",
    };
  }

  type Happens = { failure: Failure; own: boolean } | undefined;
  type When = { build: number; isRerun: boolean };

  function failureOf(test: SuiteTest, when: When): Happens {
    const fault = next() < environmentRate ? pick(environment) : undefined;
    if (fault) return { failure: next() < silentShare ? moodyFailure(test, false) : fault, own: false };
    const { nature } = test;
    if (nature.kind === "cluster") return inCluster(nature, when);
    return nature.kind === "break" ? broken(test, nature.build, when) : moody(test, nature);
  }

  function inCluster({ night, error }: Extract<Nature, { kind: "cluster" }>, when: When): Happens {
    if (when.build !== night || when.isRerun) return undefined;
    return { failure: { step: pick(steps) ?? "", error, status: "failed" }, own: false };
  }

  function broken({ name }: SuiteTest, since: number, { build }: When): Happens {
    if (build < since) return undefined;
    const error = `VERIFICATION_FAILED: expected ${name} total is right; found ${between(0, 99)}`;
    return { failure: { step: "check total", error, status: "failed" }, own: true };
  }

  function moody(test: SuiteTest, { p, alwaysAlike }: Extract<Nature, { kind: "moody" }>): Happens {
    if (next() >= p) return undefined;
    const lent = p < 1 && next() < lentShare ? pick(environment) : undefined;
    return { failure: lent ?? moodyFailure(test, alwaysAlike || p === 1), own: true };
  }

  async function execute(test: SuiteTest, build: number, at: number, isRerun: boolean): Promise<Stored> {
    const failed = failureOf(test, { build, isRerun });
    if (failed?.own) test.ownFailures += 1;
    const run = finishedRun(test, `run${stored}`, { build, at, failure: failed?.failure });
    const one: Stored = { run, build };
    stored += 1;
    await store.add(run);
    byId.set(run.execution.id, one);
    byName.set(test.name, [...(byName.get(test.name) ?? []), one]);
    return one;
  }

  async function judgeIt({ run }: Stored): Promise<void> {
    const all = await store.judge(run.execution.id);
    for (const judged of all.filter(({ decided }) => decided))
      for (const id of [judged.execution_id, ...judged.members]) await take(id, judged);
  }

  async function take(id: string, judged: Judged): Promise<void> {
    const target = byId.get(id);
    const owner = owners.get(target?.run.execution.name ?? "");
    if (!target || !owner || !judged.classification) return;
    await store.write(id, judged);
    target.classification = judged.classification;
    owner.classes.add(judged.classification);
    if (judged.flaky) owner.calledFlaky = true;
  }

  for (let build = 0; build < nights; build++) {
    const midnight = Date.parse("2026-01-01T00:00:00Z") + build * 24 * 60 * minute;
    const placed = suite.map((test, i) => ({
      test,
      at: midnight + Math.floor(i / 6) * minute + (i % 6) * 1_000,
    }));
    for (const { test, at } of placed.sort((a, b) => a.at - b.at))
      await judgeIt(await execute(test, build, at, false));
    for (let round = 1; round <= mostReruns; round++) {
      const open = suite.filter(
        ({ name, reruns }) =>
          reruns < mostReruns &&
          byName
            .get(name)
            ?.some(
              (one) =>
                one.build === build && one.classification === undefined && one.run.end.status !== "passed",
            ),
      );
      for (const [i, test] of open.entries()) {
        test.reruns += 1;
        await judgeIt(await execute(test, build, midnight + (60 * round + i) * minute, true));
      }
    }
  }
  return suite;
}
