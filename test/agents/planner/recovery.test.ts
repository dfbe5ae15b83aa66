import { describe, expect, test } from "vitest";
import { AgentError, agentErrorStatus, taskErrors } from "#agent-client/errors.ts";
import type { ToolResult } from "#agent-client/ports.ts";
import { patientToolbox, recoveries, withBackoff } from "#agent-client/recovery.ts";
import { deviceErrors } from "#controllers/errors.ts";
import { errors } from "#mcp-server/errors.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";

test("a code has one status wherever it stands", () => {
  const lists: Record<string, number>[] = [
    agentErrorStatus,
    ...[taskErrors, deviceErrors, errors].map((list) =>
      Object.fromEntries(Object.entries(list).map(([code, { status }]) => [code, status])),
    ),
  ];
  const all = new Map<string, Set<number>>();
  for (const [code, status] of lists.flatMap((list) => Object.entries(list)))
    all.set(code, (all.get(code) ?? new Set()).add(status));
  expect([...all].filter(([, statuses]) => statuses.size > 1)).toEqual([]);
});

test("the codes of seed 002 have its status", () => {
  const statuses = Object.fromEntries(Object.entries(taskErrors).map(([code, { status }]) => [code, status]));
  expect(statuses).toEqual({
    ...{ INVALID_PLAN: 400, PLANNING_TIMEOUT: 504, WEAK_MODEL: 400, PLANNING_FAILED: 500 },
    ...{ TOOL_NOT_FOUND: 400, TOOL_FAILED: 500, EXECUTION_TIMEOUT: 504, INSUFFICIENT_RESOURCES: 429 },
    ...{ VERIFICATION_FAILED: 500, VERIFICATION_TIMEOUT: 504 },
    ...{ CONNECTION_REFUSED: 503, REQUEST_TIMEOUT: 504, INVALID_RESPONSE: 502 },
    ...{ OUT_OF_MEMORY: 500, RATE_LIMITED: 429, MAX_RETRIES_EXCEEDED: 500 },
  });
  for (const [code, status] of Object.entries(statuses))
    expect(errors).toHaveProperty([code, "status"], status);
});

test("the table of recoveries is the seed's", () => {
  const simplify = { strategy: "simplify", retries: 1 };
  expect(recoveries).toEqual({
    ...{ INVALID_PLAN: simplify, PLANNING_TIMEOUT: simplify, WEAK_MODEL: simplify },
    TOOL_FAILED: { strategy: "skip_step", retries: 0 },
    EXECUTION_TIMEOUT: { strategy: "fail", retries: 0 },
    CONNECTION_REFUSED: { strategy: "backoff", retries: 3 },
    RATE_LIMITED: { strategy: "backoff", retries: 5 },
  });
});

describe("backoff", () => {
  const signal = new AbortController().signal;
  const failure = (code: string): ToolResult => ({
    parts: [{ type: "text", text: `${code}: no` }],
    isError: true,
  });

  test.each([
    ["CONNECTION_REFUSED", [250, 500, 1_000]],
    ["RATE_LIMITED", [250, 500, 1_000, 2_000, 4_000]],
    ["TOOL_FAILED", []],
    ["EXECUTION_TIMEOUT", []],
  ])("of a tool's %s", async (code, waits) => {
    const clock = fakeClock();
    const at: number[] = [];
    const start = clock.now();
    let retried = 0;
    const box = patientToolbox(
      {
        specs: async () => [],
        async call() {
          at.push(clock.now() - start);
          return failure(code);
        },
      },
      clock,
      () => retried++,
    );
    const done = box.call({ name: "any", input: {} }, { signal });
    await clock.advance(0);
    await clock.advance(60_000);
    expect(await done).toEqual(failure(code));
    expect(at).toEqual([
      0,
      ...waits.map((_, index) => waits.slice(0, index + 1).reduce((sum, ms) => sum + ms)),
    ]);
    expect(retried).toBe(waits.length);
  });

  test("of a model: RATE_LIMITED is asked five times more, another failure is not", async () => {
    const clock = fakeClock();
    let asked = 0;
    const ask = (code: "RATE_LIMITED" | "MODEL_FAILED") => async () => {
      asked += 1;
      throw new AgentError(code, "no", "");
    };
    const limited = expect(withBackoff(ask("RATE_LIMITED"), clock, signal)).rejects.toMatchObject({
      code: "RATE_LIMITED",
    });
    await clock.advance(0);
    await clock.advance(60_000);
    await limited;
    expect(asked).toBe(6);
    await expect(withBackoff(ask("MODEL_FAILED"), clock, signal)).rejects.toMatchObject({
      code: "MODEL_FAILED",
    });
    expect(asked).toBe(7);
  });
});
