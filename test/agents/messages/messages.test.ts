import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exitCodeOf } from "#agent-client/cli/qa.ts";
import { type Envelope, newMessage, readMessage, replyTo } from "#agent-client/messages/envelope.ts";
import {
  exitCodeFor,
  type StatusCode,
  statusCodeSchema,
  statusOf,
  worstOf,
} from "#agent-client/messages/status.ts";
import { resultOf } from "#agent-client/roles/executors/runCases.ts";
import { planSchema } from "#agent-client/roles/plan.ts";

const ids = { clock: { now: () => 0 }, newId: () => randomUUID() };
const message = (given: Partial<Envelope> = {}): Envelope => ({
  ...newMessage(
    {
      ...{ message_type: "WebTestExecutionRequest", sender: "PlannerAgent", recipient: "WebExecutorAgent" },
      ...{ intent: "Run it", payload: {}, expected_response: { type: "X", required_fields: ["status"] } },
    },
    ids,
  ),
  ...given,
});

describe("the envelope", () => {
  const required = Object.keys(message());
  it.each(required)("is refused without %s, which the error names", (field) => {
    const given = Object.fromEntries(Object.entries(message()).filter(([key]) => key !== field));
    expect(() => readMessage(given)).toThrow(field);
  });

  it("is read in the seed's spelling and units", () => {
    const read = readMessage({
      ...{ MessageType: "ApiTestExecutionRequest", MessageId: randomUUID(), CorrelationId: randomUUID() },
      ...{ Timestamp: "2026-01-01T10:00:00+02:00", Sender: "PlannerAgent", Recipient: "ApiExecutorAgent" },
      ...{ Intent: "Validate", Payload: [{ "OpenAPI spec reference": "shop.yaml" }], Context: [] },
      Constraints: [{ "Max execution time": "10 minutes" }, { "Max cost": "$0.30" }, { "Max retries": 2 }],
      ExpectedResponse: { type: "ApiExecutionResult", required_fields: ["status"] },
      Notes: ["for people"],
    });
    expect(read).toMatchObject({
      payload: { openapi_spec: "shop.yaml" },
      constraints: { max_execution_time: 600_000, max_cost: 0.3, max_retries: 2, grants: [] },
    });
    // What was read is a message itself.
    expect(readMessage(read)).toEqual(read);
  });

  it.each(["soon", "10", "-5 s", "10 parsecs"])("refuses the time %s", (time) => {
    expect(() => readMessage({ ...message(), constraints: { max_execution_time: time } })).toThrow(
      "with its unit",
    );
  });

  it("tells a model in a plan's JSON Schema that a time may be a text or a number", () => {
    const { properties } = z.toJSONSchema(planSchema, { io: "input" });
    expect(properties).toHaveProperty("cases.items.properties.estimate.type", ["number", "string"]);
  });

  it("refuses a reply that lacks a required field, and names it", () => {
    expect(() => replyTo(message(), { results: [] }, "WebExecutorAgent", ids)).toThrow("it lacks status");
    const sent = message();
    const reply = replyTo(sent, { status: "PASSED" }, "WebExecutorAgent", ids);
    expect(readMessage(reply)).toMatchObject({ in_reply_to: sent.message_id, recipient: "PlannerAgent" });
  });
});

describe("status codes", () => {
  const codes = statusCodeSchema.options;
  /** Every list of up to three. */
  const lists: StatusCode[][] = codes.flatMap((one) => [
    [one],
    ...codes.flatMap((two) => [[one, two], ...codes.map((three) => [one, two, three])]),
  ]);

  it("are the worst of the parts, in whatever order and groups they come", () => {
    for (const list of lists) {
      const whole = worstOf(list);
      expect(list).toContain(whole);
      expect(worstOf(list.toReversed())).toBe(whole);
      const [first, ...others] = list;
      if (first && others.length > 0) expect(worstOf([first, worstOf(others)])).toBe(whole);
    }
  });

  it("keep a whole from PASSED if any part did not run, and if there is none", () => {
    for (const list of lists) {
      expect(worstOf([...list, "NOT_RUN"])).not.toBe("PASSED");
      expect(worstOf(list) === "PASSED").toBe(list.every((code) => code === "PASSED"));
    }
    expect(worstOf([])).toBe("NOT_RUN");
  });

  it("follow from the verdicts alone: the same give the same JSON apart from ids and times", () => {
    const verdicts = ["passed", "failed", "error", "timeout", "cancelled", "queued"];
    const jsonOf = (ends: string[]) => {
      const made = resultOf(
        ends.map((said, at) => ({
          result: {
            ...{ case: `c${at}`, status: statusOf(said), execution_id: randomUUID(), verified_count: at },
            ...{ attempts: 1, flaky: false, covers: [], duration_ms: Math.random() * 1_000 },
          },
          ...{ errors: [], evidence: [] },
        })),
      );
      const times = ["execution_id", "duration_ms", "p50_ms", "p95_ms"];
      return JSON.stringify(made, (key, value) => (times.includes(key) ? 0 : value));
    };
    for (const one of verdicts)
      for (const two of verdicts) expect(jsonOf([one, two])).toBe(jsonOf([one, two]));
  });

  it("give the exit codes of labwright run", () => {
    const exits = Object.fromEntries(
      statusCodeSchema.options.map((one: StatusCode) => [one, exitCodeFor(one)]),
    );
    expect(exits).toEqual({
      ...{ PASSED: 0, FAILED: 1, ERROR: 2, BLOCKED: 2, TIMEOUT: 2, BUDGET_EXCEEDED: 2, NOT_RUN: 2 },
      CANCELLED: 130,
    });
    // A pass that the critic doubts does not end with 0; a doubt changes no other code.
    const qaExit = (status: StatusCode) => exitCodeOf({ status, severity_level: "blocker" });
    expect(statusCodeSchema.options.map(qaExit)).toEqual(
      statusCodeSchema.options.map((one) => (one === "PASSED" ? 1 : exitCodeFor(one))),
    );
    expect(exitCodeOf({ status: "PASSED", severity_level: "warning" })).toBe(0);
    expect(statusOf("error", "DEVICE_HELD")).toBe("BLOCKED");
    expect(statusOf("error", "NOTHING_VERIFIED")).toBe("ERROR");
  });
});
