import { beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { openProduct } from "../../../fixtures/product.ts";
import { judgedSchema, memoryStore, type RunStore } from "./records.ts";
import { runSuite, type SuiteTest } from "./suite.ts";

let suites: SuiteTest[][];
beforeAll(async () => {
  suites = await runSeeds(50);
}, 300_000);

async function runSeeds(seeds: number, silentShare?: number): Promise<SuiteTest[][]> {
  const found: SuiteTest[][] = [];
  for (let seed = 1; seed <= seeds; seed++) found.push(await runSuite(memoryStore(), seed, silentShare));
  return found;
}

/** A test that never failed of its own accord looks like a sound one, and is not counted. */
const isFlaky = ({ nature, ownFailures }: SuiteTest): boolean =>
  nature.kind === "moody" && nature.p > 0 && nature.p < 1 && ownFailures > 0;
const count = (tests: readonly SuiteTest[], holds: (test: SuiteTest) => boolean) =>
  tests.filter(holds).length;

function rates(tests: readonly SuiteTest[]): { precision: number; recall: number } {
  const called = count(tests, ({ calledFlaky }) => calledFlaky);
  const right = count(tests, (test) => test.calledFlaky && isFlaky(test));
  const all = count(tests, isFlaky);
  return { precision: called === 0 ? 1 : right / called, recall: all === 0 ? 1 : right / all };
}

const natureOf = ({ nature }: SuiteTest): string =>
  nature.kind === "moody" ? `fails with p ${nature.p}` : nature.kind === "break" ? "real break" : "cluster";

function table(title: string, given: readonly SuiteTest[][]): string {
  const tests = given.flat();
  const natures = [...new Set(tests.map(natureOf))];
  const lines = natures.map((nature) => {
    const those = tests.filter((test) => natureOf(test) === nature);
    const failed = count(those, ({ ownFailures }) => ownFailures > 0);
    const flaky = count(those, ({ calledFlaky }) => calledFlaky);
    const broken = count(those, ({ classes }) => classes.has("BUG") || classes.has("VALID_FAIL"));
    return `  ${nature.padEnd(18)} ${[those.length, failed, flaky, broken].map((n) => String(n).padStart(14)).join("")}`;
  });
  const head = `  ${"nature".padEnd(18)} ${["tests", "failed itself", "called flaky", "called broken"].map((text) => text.padStart(14)).join("")}`;
  const { precision, recall } = rates(tests);
  const each = given.map(rates);
  const least = (of: "precision" | "recall") => Math.min(...each.map((rate) => rate[of])).toFixed(3);
  return [
    `${title}, ${given.length} seeds together: precision ${precision.toFixed(3)} (least of a seed ${least("precision")}), recall ${recall.toFixed(3)} (least ${least("recall")})`,
    head,
    ...lines,
    "",
  ].join("\n");
}

function check(title: string, given: readonly SuiteTest[][]): void {
  process.stdout.write(table(title, given));
  const { precision, recall } = rates(given.flat());
  expect(precision).toBeGreaterThanOrEqual(0.9);
  expect(recall).toBeGreaterThanOrEqual(0.9);
}

test("finds the flaky tests of a suite with clusters, real breaks and environment faults", () => {
  expect(suites.map(({ length }) => length)).toEqual(suites.map(() => 60));
  check("Flaky tests", suites);
});

test("finds them also where one in ten faults of the lab does not say that it is one", async () => {
  check("Flaky tests, a tenth of the lab's faults silent", await runSeeds(20, 0.1));
}, 300_000);

test("calls no real break flaky, in no seed", () => {
  const broken = suites
    .flat()
    .filter(({ nature }) => nature.kind === "break" || (nature.kind === "moody" && nature.p === 1));
  expect(broken.filter(({ calledFlaky }) => calledFlaky)).toEqual([]);
  const found = count(broken, ({ classes }) => classes.has("BUG") || classes.has("VALID_FAIL"));
  expect(found / broken.length).toBeGreaterThanOrEqual(0.9);
});

test("gives a cluster one cause, and takes no member of it for flaky", () => {
  const members = suites.flat().filter(({ nature }) => nature.kind === "cluster");
  expect(members.filter(({ calledFlaky }) => calledFlaky)).toEqual([]);
});

test("runs no test again more than ten times", () => {
  expect(Math.max(...suites.flat().map(({ reruns }) => reruns))).toBeLessThanOrEqual(10);
});

const queueSchema = z.object({ judgements: z.array(judgedSchema) });

test("a host finds the same through the tools, on the database", async () => {
  const product = await openProduct("devices: [{ name: box, model: simulated }]");
  onTestFinished(() => product.dispose());
  const { call } = await product.connect();
  const rows = executionRows(product.storage.db);
  const store: RunStore = {
    add: (run) => rows.insertFinished(run),
    async judge(execution_id) {
      const { structured } = await call("get_analysis_queue_status", { execution_id, max_tokens: 50_000 });
      return queueSchema.parse(structured).judgements;
    },
    async write(execution_id, { classification, confidence, summary, evidence }) {
      const analysis = { execution_id, classification, confidence, summary, evidence };
      expect((await call("update_execution_analysis", analysis)).error).toBeUndefined();
    },
  };
  expect(await runSuite(store, 1)).toEqual(suites[0]);
}, 300_000);
