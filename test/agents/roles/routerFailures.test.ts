import { describe, expect, test } from "vitest";
import { systemClock } from "#agent-client/clock.ts";
import { AgentError } from "#agent-client/errors.ts";
import type { Envelope } from "#agent-client/messages/envelope.ts";
import { createDesk } from "#agent-client/roles/desk.ts";
import type { Executor, Outcome } from "#agent-client/roles/executor.ts";
import { createExecutor } from "#agent-client/roles/executors/execute.ts";
import { mostHops, roleOf } from "#agent-client/roles/router.ts";
import { fakeToolbox } from "../planExecute/taskLab.ts";
import { draft, steps } from "./drafts.ts";

const never = new AbortController().signal;
const quiet = { signal: never, progress: () => undefined };
const _newId = () => crypto.randomUUID();

describe("router", () => {
  type Given = { name: string; role: Executor["role"]; load?: number; run?: () => Promise<Outcome> };
  const passes = async (): Promise<Outcome> => ({ payload: { status: "PASSED" } });
  function desk(executors: Given[]) {
    const log: Envelope[] = [];
    const ran: string[] = [];
    const made = executors.map(({ name, role, load = 0, run = passes }) => ({
      ...{ name, role, health: async () => ({ isUp: true, load, reason: "" }) },
      run: () => {
        ran.push(name);
        return run();
      },
    }));
    const opened = createDesk({
      ...{ executors: async () => made, clock: systemClock },
      log: { add: async (message) => void log.push(message) },
    });
    const decisions = () =>
      log.filter(({ message_type }) => message_type === "RoutingDecision").map(({ payload }) => payload);
    return { deliver: (message: Envelope) => opened.deliver(message, quiet), ran, decisions };
  }
  const gone = async () => {
    throw new AgentError("SERVER_UNREACHABLE", "it was killed", "");
  };

  test("misclassification of intent: words that fit two roles alike go to none", async () => {
    const to = (intent: string) => roleOf({ message_type: "TaskRequest", recipient: "RouterAgent", intent });
    expect(to("Click through the checkout page in Firefox")).toMatchObject({
      role: "web",
      role_by: "intent",
    });
    expect(to("Paint the fence")).toEqual({ role: undefined, role_by: "none" });
    const { deliver, ran, decisions } = desk([{ name: "web@a", role: "web" }]);
    const message = draft({
      message_type: "TaskRequest",
      recipient: "RouterAgent",
      intent: "Paint the fence",
    });
    expect(await deliver(message)).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "UNCLEAR_INTENT" }] },
    });
    expect([ran, decisions()]).toMatchObject([[], [{ reason: expect.stringContaining("UNCLEAR_INTENT") }]]);
  });

  test("routing loops: a pair that passes a message to and fro ends by the hop count", async () => {
    const to = (forward: Executor["role"]) => async () => ({ forward, reason: `for ${forward}` });
    const { deliver, ran, decisions } = desk([
      { name: "web@a", role: "web", run: to("api") },
      { name: "api@a", role: "api", run: to("web") },
    ]);
    expect(await deliver(draft({}))).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "ROUTING_LOOP" }] },
    });
    expect(ran).toEqual(["web@a", "api@a", "web@a", "api@a"]);
    expect(decisions()).toHaveLength(mostHops + 1);
  });

  test("a message without a known type is worked on where its content fits, else passed on", async () => {
    const deps = {
      ...{ toolbox: fakeToolbox([], () => ({ parts: [], isError: true })), clock: systemClock },
      policy: { judge: async () => undefined },
    };
    const run = (payload: object) =>
      createExecutor("api", "local", deps).run({
        ...{ message: draft({ message_type: "TaskRequest", payload: { ...payload } }), ...quiet },
      });
    expect(await run({ test_scenarios: [{ id: "a", steps }] })).toMatchObject({
      payload: { status: "ERROR", results: [{ case: "a", status: "ERROR" }] },
    });
    const web = { test_scenarios: [{ id: "a", steps }], browser_matrix: ["chrome"] };
    expect(await run(web)).toMatchObject({ forward: "web" });
    await expect(run({ goal: "Pay" })).rejects.toThrow("payload");
  });

  test("bottlenecks: the one with less to do is chosen", async () => {
    const { deliver, decisions } = desk([
      { name: "web@a", role: "web", load: 3 },
      { name: "web@b", role: "web", load: 1 },
    ]);
    await deliver(draft({}));
    expect(decisions()).toMatchObject([
      {
        chosen: "web@b",
        candidates: [
          { name: "web@b", score: 0.25 },
          { name: "web@a", score: 0.125 },
        ],
        outcome: "done",
      },
    ]);
  });

  test("single point of failure: an executor that was killed is passed over, and not asked first again", async () => {
    const { deliver, ran, decisions } = desk([
      { name: "web@a", role: "web", run: gone },
      { name: "web@b", role: "web" },
    ]);
    expect(await deliver(draft({}))).toMatchObject({ payload: { status: "PASSED" } });
    expect(await deliver(draft({}))).toMatchObject({ payload: { status: "PASSED" } });
    expect(ran).toEqual(["web@a", "web@b", "web@b"]);
    expect(decisions()).toMatchObject([
      { outcome: "passed on: it was killed" },
      { outcome: "done" },
      { outcome: "done" },
    ]);
    const alone = desk([{ name: "web@a", role: "web", run: gone }]);
    expect(await alone.deliver(draft({}))).toMatchObject({ payload: { status: "BLOCKED" } });
  });
});
