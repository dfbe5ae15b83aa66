import { readFileSync } from "node:fs";
import { ToolError } from "@labwright/mcp-server";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { z } from "zod";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import {
  createReports,
  ctrfReport,
  htmlReport,
  junitReport,
  type ReportDependencies,
  type ReportEntry,
  readReport,
} from "#mcp-server/services/runs/reports/index.ts";
import { shrink } from "#mcp-server/services/runs/reports/pictures.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { testSecrets } from "../../../fixtures/simulated.ts";
import { memoryArtifacts } from "../../apps/testcases/testcaseBench.ts";
import { openReportBrowser, type ReportBrowser } from "./reportBrowser.ts";
import { execution, failedEntry, head, hostileEntry, passedEntry, pixel, shot, step } from "./samples.ts";

describe("JUnit XML read by a browser", () => {
  let browser: ReportBrowser;
  beforeAll(async () => {
    browser = await openReportBrowser();
  });
  afterAll(() => browser.close());

  const parsedXml = z.object({
    error: z.string(),
    suites: z.record(z.string(), z.string()),
    cases: z.array(z.object({ name: z.string(), outcome: z.array(z.string()), text: z.string() })),
  });
  async function readXml(xml: string) {
    // As text, since the code of the tests knows no document.
    const read = await browser.page.evaluate(`(() => {
      const parsed = new DOMParser().parseFromString(${JSON.stringify(xml)}, "application/xml");
      const all = (parent, name) => [...parent.querySelectorAll(name)];
      const attributes = [...(parsed.querySelector("testsuites")?.attributes ?? [])];
      return {
        error: parsed.querySelector("parsererror")?.textContent ?? "",
        suites: Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
        cases: all(parsed, "testcase").map((one) => ({
          name: one.getAttribute("name") ?? "",
          outcome: all(one, "failure, error").map((end) => end.tagName + " " + end.getAttribute("type")),
          text: all(one, "failure, error")[0]?.textContent ?? "",
        })),
      };
    })()`);
    return parsedXml.parse(read);
  }

  it("parses, counts, and reports a failure from an error and a stop", async () => {
    const ended = (status: "error" | "timeout" | "cancelled", code: string): ReportEntry => ({
      ...passedEntry(),
      execution: execution({
        name: status,
        status,
        reason: { code, message: "It ended." },
        device: "lab/tv",
      }),
    });
    const read = await readXml(
      junitReport([
        passedEntry(),
        failedEntry(),
        ended("error", "NOTHING_VERIFIED"),
        ended("timeout", "EXECUTION_TIMEOUT"),
        ended("cancelled", "CANCELLED"),
      ]),
    );
    expect(read.error).toBe("");
    expect(read.suites).toMatchObject({ tests: "5", failures: "1", errors: "3", time: "16.000" });
    expect(read.cases.map(({ name, outcome }) => [name, ...outcome])).toEqual([
      ["Add a todo"],
      ["Counts what is left", "failure VERIFICATION_FAILED"],
      ["error", "error NOTHING_VERIFIED"],
      ["timeout", "error EXECUTION_TIMEOUT"],
      ["cancelled", "error CANCELLED"],
    ]);
    expect(read.cases[1]?.text).toContain(
      'expected: the screen shows "2 items left"\nfound: 1 item left\nnearest: 1 item left',
    );
  });

  it("is well-formed whatever the page said", async () => {
    const read = await readXml(junitReport([hostileEntry()]));
    expect(read.error).toBe("");
    expect(read.cases[0]?.name).toContain('<script>alert("x")</script>');
  });
});

describe("CTRF", () => {
  const schema = z.fromJSONSchema(
    JSON.parse(readFileSync(new URL("./ctrf.schema.json", import.meta.url), "utf8")),
  );

  it("is valid by the format's own schema, which would refuse a wrong one", () => {
    const document = JSON.parse(ctrfReport([passedEntry(), failedEntry(), hostileEntry()], head));
    expect(schema.safeParse(document).error).toBeUndefined();
    expect(schema.safeParse(JSON.parse(ctrfReport([], head))).success).toBe(true);
    expect(
      schema.safeParse({ ...document, results: { ...document.results, tests: [{ name: "x" }] } }).success,
    ).toBe(false);
    expect(schema.safeParse({ ...document, results: { ...document.results, more: 1 } }).success).toBe(false);
  });

  it("counts, keeps our status next to its own, and carries the evidence", () => {
    const { results } = JSON.parse(ctrfReport([passedEntry(), failedEntry(), hostileEntry()], head));
    expect(results.summary).toMatchObject({
      tests: 3,
      passed: 1,
      failed: 2,
      start: 1767261600000,
      stop: 1767261603200,
    });
    // What only some of them share is not the environment of all.
    expect(results.environment).toEqual({ appVersion: "1.4.0", buildName: "812" });
    expect(results.tests[1]).toMatchObject({
      status: "failed",
      rawStatus: "failed",
      duration: 3_200,
      steps: [{ status: "passed" }, { status: "passed" }, { status: "failed" }],
    });
    expect(results.tests[1].attachments).toHaveLength(4);
    expect(results.tests[1].trace).toContain("nearest: 1 item left");
    expect(JSON.parse(ctrfReport([failedEntry()], head)).results.environment).toEqual({
      appName: "todomvc",
      appVersion: "1.4.0",
      buildName: "812",
      testEnvironment: "staging",
    });
  });
});

test("CTRF names a browser only where one ran, and the version of any other device next to it", () => {
  const testOf = (device_version: string) => {
    const entry = { ...passedEntry(), execution: execution({ device_version }) };
    return JSON.parse(ctrfReport([entry], head)).results.tests[0];
  };
  const web = testOf("chromium 141.0.7390.37");
  expect(web).toMatchObject({
    browser: "chromium 141.0.7390.37",
    extra: { device_version: "chromium 141.0.7390.37" },
  });
  const phone = testOf("Android 15");
  expect(phone).not.toHaveProperty("browser");
  expect(phone.extra.device_version).toBe("Android 15");
  expect(testOf("Android 15, chrome 141.0")).toMatchObject({ browser: "chrome 141.0" });
});

test("a screenshot is shrunk for the page, and bytes that are not a picture are left out", async () => {
  const noisy = {
    create: {
      width: 1_600,
      height: 900,
      channels: 3 as const,
      background: "white",
      noise: { type: "gaussian" as const, mean: 128, sigma: 9 },
    },
  };
  const bytes = await sharp(noisy).png().toBuffer();
  const shrunk = await shrink({ mimeType: "image/png", bytes });
  // Places on it are still those of the screenshot.
  expect(shrunk).toMatchObject({ mimeType: "image/webp", width: 1_600, height: 900 });
  expect(await sharp(shrunk?.bytes).metadata()).toMatchObject({ format: "webp", width: 1_080 });
  expect(shrunk?.bytes.byteLength).toBeLessThan(bytes.byteLength / 4);
  expect(await shrink({ mimeType: "image/png", bytes: Buffer.from("no picture") })).toBeUndefined();
});

describe("the report service", () => {
  const artifacts = memoryArtifacts();
  const stored = (steps: ReportEntry["steps"]) => ({
    get: async (id: string) => {
      if (id === "gone") throw new ToolError("EXECUTION_NOT_FOUND", "There is none.", "Use another.");
      const status = id === "failed" ? "failed" : "passed";
      return { execution: execution({ id, status, outputs: { token: "4711-secret" } }), steps: [...steps] };
    },
    wait: async () => ({ execution_id: "", status: "passed" as const, steps_done: 0 }),
  });
  const reportsOf = (
    steps: ReportEntry["steps"],
    requirementsOf: ReportDependencies["requirementsOf"] = async () => [],
    marksBefore: ReportDependencies["records"]["marksBefore"] = async () => new Map(),
  ) =>
    createReports({
      executions: stored(steps),
      judgements: { of: async () => [] },
      records: { ofTest: async () => [], marksBefore },
      eventRows: { ofType: async () => [] },
      artifacts,
      requirementsOf,
      secrets: testSecrets({ PIN: "4711-secret" }),
      clock: systemClock,
    });
  const textOf = async (sha256: string) => Buffer.from((await artifacts.get(sha256)).bytes).toString("utf8");

  it("stores one file for many runs, with the pictures that are kept, and no secret", async () => {
    const kept = await artifacts.put(pixel, "image/png");
    const steps = [
      step(0, {
        artifacts: [shot("before", kept.uri), shot("after", "artifact://lost")],
        label: "types 4711-secret",
      }),
    ];
    for (const format of ["html", "junit", "ctrf"] as const) {
      const { artifact, summary } = await reportsOf(steps).create(["a", "b"], format, "all");
      expect(summary).toMatchObject({ tests: 2, passed: 2, failed: 0, duration_ms: 6_400 });
      const text = await textOf(artifact.sha256);
      expect(text).toContain("types [secret PIN]");
      expect(text).not.toContain("4711-secret");
      if (format === "html") {
        expect(text).toContain(`data:image/png;base64,${pixel.toString("base64")}`);
        expect(text).toContain("not in this file: artifact://lost");
        expect(JSON.stringify(readReport(text))).not.toContain("4711-secret");
      }
    }
    const plain = await reportsOf(steps).create(["a", "b"], "html");
    expect(await textOf(plain.artifact.sha256)).not.toContain("data:image");
    await expect(reportsOf(steps).create(["a", "gone"], "html")).rejects.toMatchObject({
      code: "EXECUTION_NOT_FOUND",
    });
  });

  it("asks once which requirements its test cases check, for the page only, and hides secrets in them", async () => {
    const asked: unknown[] = [];
    const link = { project: "", code: "REQ-001", name: "keeps 4711-secret", coverage: "full" as const };
    const reports = reportsOf([step(0)], async (names) => {
      asked.push(names);
      return [
        { ...link, testcase: "Add a todo" },
        { ...link, code: "REQ-002", testcase: "another" },
      ];
    });
    const { artifact } = await reports.create(["a", "b"], "html");
    const text = await textOf(artifact.sha256);
    expect(text.split("<b>REQ-001</b> keeps [secret PIN]")).toHaveLength(3);
    expect(text).not.toContain("REQ-002");
    for (const format of ["junit", "ctrf"] as const) await reports.create(["a"], format);
    expect(asked).toEqual([[{ name: "Add a todo", project: "" }]]);
  });

  it("asks once for the earlier runs of its tests, for the page only; of many tests, of those that did not pass", async () => {
    const asked: (readonly string[])[] = [];
    const mark = {
      execution_id: "before",
      status: "passed" as const,
      started_at: "2026-01-01T09:00:00.000Z",
    };
    const reports = reportsOf([step(0)], undefined, async (ids) => {
      asked.push(ids);
      return new Map([["a", [mark]]]);
    });
    const { artifact } = await reports.create(["a", "b"], "html");
    expect(readReport(await textOf(artifact.sha256)).entries.map(({ history }) => history)).toEqual([
      [mark],
      undefined,
    ]);
    const many = Array.from({ length: 301 }, (_, at) => (at === 7 ? "failed" : `${at}`));
    await reports.create(many, "html");
    await reports.create(["a"], "junit");
    expect(asked).toEqual([["a", "b"], ["failed"]]);
  });

  it("says where a run stands in as many tokens as asked, what failed first", async () => {
    const bad = step(3, {
      status: "failed",
      label: "the one that failed",
      error: { code: "VERIFICATION_FAILED", message: "No." },
    });
    const steps = [0, 1, 2]
      .map((index) => step(index))
      .concat(
        bad,
        [4, 5, 6, 7].map((index) => step(index)),
      );
    const whole = await reportsOf(steps).status("a", { waitMs: 0, maxTokens: 2_000 }, callContext());
    expect(whole.steps.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(whole).not.toHaveProperty("more");
    const short = await reportsOf(steps).status("a", { waitMs: 0, maxTokens: 120 }, callContext());
    expect(short.steps.map(({ n }) => n)).toEqual([4, 7, 8]);
    expect(short.more).toBe(5);
  });
});

describe("what a report says next to the verdict", () => {
  const flaky: ReportEntry = {
    ...passedEntry(),
    execution: execution({
      flaky: true,
      device_version: "chromium 141.0.7390.37",
      triggered_by: "local",
      input: { testcase: "Add a todo", inputs: { user: "anna" }, start: { by: "run/12", fresh: true } },
      attempts: [
        {
          id: "a.1",
          status: "failed",
          reason: { code: "VERIFICATION_FAILED", message: "not yet" },
          duration_ms: 900,
        },
        { id: "a.2", status: "error", reason: { code: "DEVICE_LOST", message: "gone" }, duration_ms: 100 },
        { id: "a.3", status: "passed", duration_ms: 500 },
      ],
      rerun: "Its last run failed (b). No difference between their starts is known.",
    }),
    steps: [step(0, { notices: ['alert "Hi" was accepted'] })],
  };

  it("HTML: inputs, browser, how it started, every attempt, notices, and how a rerun disagrees", () => {
    const page = htmlReport([flaky], head);
    for (const text of [
      "<dt>input user</dt><dd>anna</dd>",
      "chromium 141.0.7390.37",
      "run/12 (local)",
      "<dt>fresh</dt><dd>true</dd>",
      '<span class="badge warn">flaky</span>',
      "VERIFICATION_FAILED: not yet",
      "DEVICE_LOST: gone",
      "alert &quot;Hi&quot; was accepted",
      "No difference between their starts is known.",
    ])
      expect(page).toContain(text);
  });

  it("JUnit: the same as properties, and Surefire's flakyFailure and flakyError; rerunFailure of one that failed", () => {
    const xml = junitReport([flaky]);
    for (const text of [
      '<property name="device_version" value="chromium 141.0.7390.37"/>',
      '<property name="input.user" value="anna"/>',
      '<property name="start.by" value="run/12 (local)"/>',
      '<property name="flaky" value="true"/>',
      '<flakyFailure type="VERIFICATION_FAILED" message="not yet" time="0.900"><stackTrace>a.1: ',
      '<flakyError type="DEVICE_LOST" message="gone"',
      'failures="0" errors="0"',
      "notice: alert &quot;Hi&quot; was accepted",
    ])
      expect(xml).toContain(text);
    const { attempts } = flaky.execution;
    const failed = failedEntry();
    const twice = junitReport([
      { ...failed, execution: { ...failed.execution, ...(attempts && { attempts: attempts.slice(0, 2) }) } },
    ]);
    expect(twice).toContain('<rerunFailure type="VERIFICATION_FAILED"');
    expect(twice).not.toContain("<flaky");
  });

  it("CTRF: flaky, retries and the attempts before, as its schema has them", () => {
    const document = JSON.parse(ctrfReport([flaky], head));
    const schema = z.fromJSONSchema(
      JSON.parse(readFileSync(new URL("./ctrf.schema.json", import.meta.url), "utf8")),
    );
    expect(schema.safeParse(document).error).toBeUndefined();
    expect(document.results.summary).toMatchObject({ tests: 1, passed: 1, flaky: 1 });
    expect(document.results.tests[0]).toMatchObject({
      status: "passed",
      flaky: true,
      retries: 2,
      retryAttempts: [
        { attempt: 1, attemptId: "a.1", status: "failed" },
        { attempt: 2, attemptId: "a.2", status: "failed" },
      ],
      browser: "chromium 141.0.7390.37",
      parameters: { user: "anna" },
      steps: [{ extra: { notices: ['alert "Hi" was accepted'] } }],
    });
  });
});
