import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunFacts, storeOpenRun, storeRuns } from "../../fixtures/executionRecords.ts";
import { chain, sees } from "../../services/apps/testcases/testcaseBench.ts";
import { type OfflineBench, openOffline } from "./bench.ts";

/** A Wednesday, by the clock of this machine. */
const now = new Date(2026, 10, 18, 15, 30);
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).toISOString();
const run = (name: string, started_at: string, facts: RunFacts = {}): RunFacts => ({
  name,
  started_at,
  ...facts,
});
const failed: RunFacts = {
  end: { status: "failed", reason: { code: "VERIFICATION_FAILED", message: "no" } },
};

let bench: OfflineBench;
beforeAll(async () => {
  bench = await openOffline(
    "devices: [{ name: box, model: simulated }, { name: google_tv, model: simulated }]",
  );
  for (const name of ["sign in", "zapping", "search_films", "search_series"])
    await bench.client.call("save_testcase", { testcase: { name, ...chain([sees("look", "x")]) } });
  await storeRuns(bench.product.storage.db, {
    signinlate1a: run("sign in", at(18, 14)),
    signinmorn1b: run("sign in", at(18, 9, 30), failed),
    signinearl1c: run("sign in", at(18, 7)),
    signinyest1d: run("sign in", at(17, 22), failed),
    zappingmon1e: run("zapping", at(16, 12), { ...failed, device: "lab/google_tv" }),
    zappinglas1f: run("zapping", at(11, 12)),
  });
});
afterAll(() => bench.end());
const ask = (text: string) => bench.ask(text, { now });

test.each([
  ["did the sign in test pass today?", "Yes: ", "today: 3 runs, 1 failed, 2 passed."],
  ["Did sign_in fail today?", "Yes: ", "today: 3 runs, 1 failed, 2 passed."],
  ["did sign in pass yesterday?", "No: ", "yesterday: 1 run, 1 failed."],
  ["did sign in pass before noon", "No: ", "before noon: 3 runs, 2 failed, 1 passed."],
  ["has “sign in” passed in the last 24 hours?", "Yes: ", "last 24 hours: 4 runs, 2 failed, 2 passed."],
  ["did sign in pass until 8 am?", "Yes: ", "until 8 am: 2 runs, 1 failed, 1 passed."],
  ["did zapping pass this month?", "No: ", "this month: 2 runs, 1 failed, 1 passed."],
  ["did zapping pass on November 11?", "Yes: ", "November 11: 1 run, 1 passed."],
  ["did zapping pass in the last 3 months?", "No: ", "last 3 months: 2 runs, 1 failed, 1 passed."],
  ["did sign in pass since 9 am?", "Yes: ", "since 9 am: 2 runs, 1 failed, 1 passed."],
  ["is zapping green on Monday?", "No: ", "on Monday: 1 run, 1 failed."],
  ["did zapping pass last week?", "Yes: ", "last week: 1 run, 1 passed."],
  ["did zapping pass this week?", "No: ", "this week: 1 run, 1 failed."],
  ["did all tests pass today?", "No: ", "today: 3 runs, 1 failed, 2 passed."],
])("%s", async (text, verdict, counts) => {
  const { text: said, outcome } = await ask(text);
  expect(said.startsWith(verdict), said).toBe(true);
  expect(said).toContain(counts);
  expect(outcome).toBe("done");
});

test("the latest run comes first, with its device, time, reason and id, and the time that was intended", async () => {
  const { text, calls } = await ask("did the sign in test pass today?");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(text.split("\n")).toEqual([
    "Yes: the latest run: sign in passed (lab/box, 2026-11-18 14:00, 0.0 s, execution signinlate1a).",
    "today: 3 runs, 1 failed, 2 passed.",
    "- sign in failed (lab/box, 2026-11-18 09:30, 0.0 s, VERIFICATION_FAILED, execution signinmorn1b)",
    "- sign in passed (lab/box, 2026-11-18 07:00, 0.0 s, execution signinearl1c)",
    `Read from “today”: from 2026-11-18 00:00 until 2026-11-19 00:00, ${zone}.`,
  ]);
  expect(calls.map(({ name }) => name)).not.toContain("execute_testcase");
});

test.each([
  ["what failed today?", ["signinlate1a", "signinmorn1b"], "zapping"],
  ["what ran on google_tv this week?", ["zappingmon1e"], "signin"],
  ["status of the sign in test", ["signinlate1a", "signinyest1d"], "zapping"],
  ["is the test zapping running?", ["zappingmon1e"], "signin"],
  ["results of zapping", ["zappingmon1e", "zappinglas1f"], "signin"],
  ["the last run of zapping", ["zappingmon1e"], "signin"],
  ["which tests did not pass since Monday", ["zappingmon1e"], "signinearl1c execution"],
])("%s", async (text, shown, hidden) => {
  const { text: said } = await ask(text);
  for (const id of shown) expect(said).toContain(id);
  expect(said).not.toContain(hidden);
});

test("a test that did not run in the time is reported as such", async () => {
  const { text } = await ask("did zapping pass today?");
  expect(text).toMatch(/^No: there was no run of zapping\.\ntoday: 0 runs\.\nRead from “today”/);
});

test.each([
  "what ran on google_tv today",
  "did anything fail on google_tv today?",
])("nothing ran: %s", async (text) => {
  const { text: said, outcome } = await ask(text);
  expect(said).toMatch(/^(?:No: )?there was no run on lab\/google_tv\.\ntoday: 0 runs\./);
  expect(outcome).toBe("done");
});

test("a run that goes on has no verdict", async () => {
  await storeOpenRun(bench.product.storage.db, "filmsrunning", {
    name: "search_films",
    started_at: at(18, 15),
  });
  expect((await ask("did search_films pass today?")).text).toMatch(
    /^Not yet: the latest run: search_films running/,
  );
});

test("a name that is not there is said, without a verdict", async () => {
  const { text, outcome } = await ask("did checkout pass today?");
  expect(text).toContain("Not understood: “checkout”.");
  expect(text).not.toMatch(/^(?:Yes|No)/);
  expect(outcome).toBe("needs_input");
});

test("words that are not understood are named next to the answer", async () => {
  const { text } = await ask("why did zapping fail on its third step last week?");
  expect(text).toContain("Not understood: “why”, “third”, “step”.");
});

test.each([
  ["did zapping pass last weekend?", "“weekend”"],
  ["did zapping pass last night?", "“night”"],
  ["did zapping pass yesterday morning?", "“yesterday”, “morning”"],
  ["did zapping pass between Monday and Wednesday", "“between”, “Monday”"],
  ["how did zapping go hier?", "“hier”"],
])("a time that is not understood is named: %s", async (text, words) => {
  const { text: said, outcome } = await ask(text);
  expect(said).toContain(`Not understood: ${words}.`);
  expect(outcome).toBe("needs_input");
});

test("two that are named are asked about one at a time", async () => {
  const { text, outcome } = await ask("did sign in and zapping pass today?");
  expect(text).toBe("Ask about one at a time: sign in, zapping.");
  expect(outcome).toBe("needs_input");
});
