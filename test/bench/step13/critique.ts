import { randomUUID } from "node:crypto";
import { z } from "zod";
import { serve } from "../../fixtures/loopback.ts";
import type { DaemonFile } from "../agentSide.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { openTaskSide } from "../step12/taskSide.ts";

const resultSchema = z.looseObject({
  case: z.string(),
  status: z.string(),
  execution_id: z.string().optional(),
  verified_count: z.number(),
});
const executedSchema = z.looseObject({
  status: z.string(),
  results: z.array(resultSchema),
  artifacts: z.array(z.unknown()),
  errors: z.array(z.looseObject({ case: z.string() })),
});
type Executed = z.output<typeof executedSchema>;
type Aim = { id: string; isCritical: boolean };
/** A run as its executor reports it, what it set out to check, and the defect that it has. */
type Recorded = { name: string; run: Executed; aims?: Aim[]; defect?: string };

const defects = ["NOTHING_VERIFIED", "MISSING_EVIDENCE", "SKIPPED_RISK", "FALSE_PASS"];

async function send({ port, token }: DaemonFile, message: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ message_id: randomUUID(), correlation_id: randomUUID(), timestamp: new Date().toISOString() },
      ...{ sender: "PlannerAgent", recipient: "RouterAgent", intent: "Bench", context: {}, constraints: {} },
      expected_response: { type: "Reply", required_fields: [] },
      ...message,
    }),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return z.looseObject({ payload: z.unknown() }).parse(body).payload;
}

type Scenario = { id: string; steps: unknown[]; covers?: string[]; retries?: number };
const request = (url: string, status: number) => ({ api_request: { url, checks: [{ status }] } });

async function record(
  daemon: DaemonFile,
  test_scenarios: Scenario[],
  constraints: object = {},
): Promise<Executed> {
  const message = { message_type: "ApiTestExecutionRequest", payload: { test_scenarios }, constraints };
  return executedSchema.parse(await send(daemon, message));
}

const aim = (id: string, isCritical = true): Aim => ({ id, isCritical });
const claimed = (run: Executed, change: Partial<Executed["results"][number]>): Executed => ({
  ...run,
  results: run.results.map((one) => ({ ...one, ...change })),
});
const asPassed = (run: Executed): Executed => ({
  ...claimed(run, { status: "PASSED", verified_count: 1 }),
  ...{ status: "PASSED", errors: [] },
});

/** Twenty runs: ten that are what they say, and ten with a defect. Each is a run of this server, as reported or falsified. */
async function recordAll(daemon: DaemonFile, url: string): Promise<Recorded[]> {
  const pass = (id: string, covers: string[] = []) => ({
    id,
    covers,
    retries: 0,
    steps: [request(`${url}/ok`, 200)],
  });
  const fail = (id: string, covers: string[] = []) => ({
    id,
    covers,
    retries: 0,
    steps: [request(`${url}/ok`, 201)],
  });
  const down = (id: string) => ({ id, retries: 0, steps: [request("http://127.0.0.1:9/", 200)] });
  const slow = (id: string, covers: string[]) => ({
    id,
    covers,
    retries: 0,
    steps: [request(`${url}/slow`, 200)],
  });
  const flaky = { id: "flaky", retries: 1, steps: [request(`${url}/flaky`, 200)] };
  const idle = { id: "idle", retries: 0, steps: [{ set: { a: 1 } }, request(`${url}/ok`, 200)] };
  const sound = async (name: string, scenarios: Scenario[], aims: Aim[] = []): Promise<Recorded> => ({
    ...{ name, aims, run: await record(daemon, scenarios) },
  });
  const passed = await record(daemon, [pass("one", ["pay"]), pass("two")]);
  const failed = await record(daemon, [fail("wrong")]);
  const cut = await record(daemon, [pass("first"), slow("late", ["pay"]), pass("never", ["ship"])], {
    max_execution_time: 1_500,
  });
  const bare = (run: Executed) => claimed(run, { execution_id: undefined });
  return [
    await sound("one pass", [pass("a", ["pay"])], [aim("pay")]),
    await sound("three passes", [pass("a"), pass("b"), pass("c")]),
    await sound("a failure with its error", [fail("a", ["pay"])], [aim("pay")]),
    await sound("a pass and a failure", [pass("a"), fail("b")]),
    await sound("two failures of one cause", [fail("a"), fail("b")]),
    await sound("an address that does not answer", [down("a")]),
    await sound("a flaky test", [flaky]),
    await sound("a step that checks nothing before one that does", [idle]),
    await sound("two risks, one case", [pass("a", ["pay", "ship"])], [aim("pay"), aim("ship")]),
    await sound("a known failure among passes", [pass("a", ["pay"]), fail("b"), pass("c")], [aim("pay")]),
    {
      name: "all passed without a check",
      run: claimed(passed, { verified_count: 0 }),
      defect: "NOTHING_VERIFIED",
    },
    {
      ...{ name: "one of two passed without a check", defect: "NOTHING_VERIFIED" },
      run: {
        ...passed,
        results: passed.results.map((one, at) => (at === 0 ? { ...one, verified_count: 0 } : one)),
      },
    },
    { name: "passes without an execution", run: bare(passed), defect: "MISSING_EVIDENCE" },
    {
      name: "a failure without an error or a picture",
      run: { ...failed, errors: [], artifacts: [] },
      defect: "MISSING_EVIDENCE",
    },
    {
      name: "a failure without an execution",
      run: { ...bare(failed), errors: [] },
      defect: "MISSING_EVIDENCE",
    },
    {
      name: "a risk that no case checks",
      run: passed,
      aims: [aim("pay"), aim("refund")],
      defect: "SKIPPED_RISK",
    },
    { name: "a risk whose case was cut off", run: cut, aims: [aim("pay")], defect: "SKIPPED_RISK" },
    { name: "a risk whose case never ran", run: cut, aims: [aim("ship", false)], defect: "SKIPPED_RISK" },
    { name: "a failure that is reported as passed", run: asPassed(failed), defect: "FALSE_PASS" },
    {
      ...{ name: "a pass of an execution that does not exist", defect: "FALSE_PASS" },
      run: claimed(passed, { execution_id: randomUUID() }),
    },
  ];
}

const reviewSchema = z.looseObject({
  risk_flags: z.array(z.looseObject({ flag: z.string(), evidence: z.array(z.string()).min(1) })),
});

/** How many of ten defects the critic finds without a model, and how many it sees in ten runs that have none. */
export async function measureCritique({ sides, note }: Bench): Promise<Measurement[]> {
  let asked = 0;
  const site = await serve(({ url }, response) => {
    if (url === "/slow") return;
    response.statusCode = url === "/flaky" && ++asked % 2 === 1 ? 500 : 200;
    response.end("{}");
  });
  const side = await openTaskSide({ sides }, { prepare: async () => undefined });
  try {
    const recorded = await recordAll(side.daemon, site.url);
    let found = 0;
    let wrong = 0;
    for (const { name, run, aims = [], defect } of recorded) {
      const { status, results, artifacts, errors } = run;
      const payload = {
        ...{ summary: { status }, test_cases: results, logs_and_artifacts: artifacts },
        ...{ failure_severity_hints: errors, aims },
      };
      const message = { message_type: "TestExecutionResultReview", payload };
      const flags = reviewSchema.parse(await send(side.daemon, message)).risk_flags.map(({ flag }) => flag);
      const seen = flags.filter((flag) => defects.includes(flag));
      if (defect !== undefined && seen.includes(defect)) found += 1;
      else if (defect !== undefined)
        note(`critique: ${name}: ${defect} was not found, but ${flags.join(", ") || "nothing"}`);
      const others = seen.filter((flag) => flag !== defect);
      if (defect === undefined) wrong += others.length;
      if (others.length > 0) note(`critique: ${name}: ${others.join(", ")}`);
    }
    return [
      {
        id: "critique.found",
        ours: found,
        runs: recorded.filter(({ defect }) => defect !== undefined).length,
      },
      {
        id: "critique.false",
        ours: wrong,
        runs: recorded.filter(({ defect }) => defect === undefined).length,
      },
    ];
  } finally {
    await side.close();
    await site.close();
  }
}
