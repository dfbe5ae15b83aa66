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
type Recorded = { name: string; run: Executed; aims: Aim[]; defect?: string };

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
  const one = (id: string, steps: unknown[], covers: string[] = [], retries = 0) => ({
    id,
    steps,
    covers,
    retries,
  });
  const pass = (id: string, ...covers: string[]) => one(id, [request(`${url}/ok`, 200)], covers);
  const fail = (id: string, ...covers: string[]) => one(id, [request(`${url}/ok`, 201)], covers);
  const down = one("a", [request("http://127.0.0.1:9/", 200)]);
  const slow = one("late", [request(`${url}/slow`, 200)], ["pay"]);
  const flaky = one("flaky", [request(`${url}/flaky`, 200)], [], 1);
  const idle = one("idle", [{ set: { a: 1 } }, request(`${url}/ok`, 200)]);
  const sound: [name: string, scenarios: Scenario[], ...aims: string[]][] = [
    ["one pass", [pass("a", "pay")], "pay"],
    ["three passes", [pass("a"), pass("b"), pass("c")]],
    ["a failure with its error", [fail("a", "pay")], "pay"],
    ["a pass and a failure", [pass("a"), fail("b")]],
    ["two failures of one cause", [fail("a"), fail("b")]],
    ["an address that does not answer", [down]],
    ["a flaky test", [flaky]],
    ["a step that checks nothing before one that does", [idle]],
    ["two risks, one case", [pass("a", "pay", "ship")], "pay", "ship"],
    ["a known failure among passes", [pass("a", "pay"), fail("b"), pass("c")], "pay"],
  ];
  const recorded: Recorded[] = [];
  for (const [name, scenarios, ...aims] of sound)
    recorded.push({ name, run: await record(daemon, scenarios), aims: aims.map((id) => aim(id)) });
  const passed = await record(daemon, [pass("one", "pay"), pass("two")]);
  const failed = await record(daemon, [fail("wrong")]);
  const cut = await record(daemon, [pass("first"), slow, pass("never", "ship")], {
    max_execution_time: 1_500,
  });
  const [first, ...others] = passed.results;
  if (!first) throw new Error("nothing ran");
  const bare = (run: Executed) => claimed(run, { execution_id: undefined });
  const unverified = { ...passed, results: [{ ...first, verified_count: 0 }, ...others] };
  const defective: [defect: string, name: string, run: Executed, ...aims: Aim[]][] = [
    ["NOTHING_VERIFIED", "all passed without a check", claimed(passed, { verified_count: 0 })],
    ["NOTHING_VERIFIED", "one of two passed without a check", unverified],
    ["MISSING_EVIDENCE", "passes without an execution", bare(passed)],
    ["MISSING_EVIDENCE", "a failure without an error or a picture", { ...failed, errors: [], artifacts: [] }],
    ["MISSING_EVIDENCE", "a failure without an execution", { ...bare(failed), errors: [] }],
    ["SKIPPED_RISK", "a risk that no case checks", passed, aim("pay"), aim("refund")],
    ["SKIPPED_RISK", "a risk whose case was cut off", cut, aim("pay")],
    ["SKIPPED_RISK", "a risk whose case never ran", cut, aim("ship", false)],
    ["FALSE_PASS", "a failure that is reported as passed", asPassed(failed)],
    [
      "FALSE_PASS",
      "a pass of an execution that does not exist",
      claimed(passed, { execution_id: randomUUID() }),
    ],
  ];
  return [...recorded, ...defective.map(([defect, name, run, ...aims]) => ({ name, run, aims, defect }))];
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
    const count = { found: 0, wrong: 0 };
    for (const { name, run, aims, defect } of recorded) {
      const { status, results, artifacts, errors } = run;
      const payload = {
        ...{ summary: { status }, test_cases: results, logs_and_artifacts: artifacts },
        ...{ failure_severity_hints: errors, aims },
      };
      const message = { message_type: "TestExecutionResultReview", payload };
      const { risk_flags } = reviewSchema.parse(await send(side.daemon, message));
      const seen = risk_flags.map(({ flag }) => flag).filter((flag) => defects.includes(flag));
      const others = seen.filter((flag) => flag !== defect);
      if (defect === undefined) count.wrong += others.length;
      else if (seen.includes(defect)) count.found += 1;
      else note(`critique: ${name}: ${defect} was not found`);
      if (others.length > 0) note(`critique: ${name}: ${others.join(", ")}`);
    }
    const faulty = recorded.filter(({ defect }) => defect !== undefined).length;
    return [
      { id: "critique.found", ours: count.found, runs: faulty },
      { id: "critique.false", ours: count.wrong, runs: recorded.length - faulty },
    ];
  } finally {
    await side.close();
    await site.close();
  }
}
