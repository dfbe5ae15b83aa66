import { expect, test } from "vitest";
import { loadAgents } from "#agent-client/agents/load.ts";
import { systemClock } from "#agent-client/clock.ts";
import type { Scenario } from "#agent-client/messages/contents.ts";
import { newMessage } from "#agent-client/messages/envelope.ts";
import { plannerRole } from "#agent-client/roles/agents.ts";
import { createDesk } from "#agent-client/roles/desk.ts";
import { type Policy, writesOf } from "#agent-client/roles/policy.ts";
import { fakeToolbox } from "../planExecute/taskLab.ts";

const quiet = { signal: new AbortController().signal, progress: () => undefined };

/** What the planner's model is asked, and the role's reply. */
async function planWith(grants: ("pii:model" | "pii:log")[], policy: Policy) {
  const asked: string[] = [];
  const answer = { structured: { testcases: [], requirements: [], hosts: [] }, parts: [], isError: false };
  const role = plannerRole({
    ...{ toolbox: fakeToolbox([], () => answer), clock: systemClock, agents: loadAgents().agents, policy },
    skillRunner:
      () =>
      async ({ request }) => {
        asked.push(request);
        throw new Error("asked");
      },
  });
  const message = newMessage(
    {
      ...{ message_type: "QaPlanRequest", sender: "QaClient", recipient: "PlannerAgent", intent: "Plan" },
      payload: { goal: "Pay", test_data: { phone: "555-0199", plan: "pro", pii: ["phone"] } },
      constraints: { grants },
    },
    { clock: systemClock, newId: () => crypto.randomUUID() },
  );
  const outcome = await role.run({ message, ...quiet }).catch(() => undefined);
  return { asked: asked.join(), outcome };
}

test("personal data go to no model without a grant: their names do, and what is not personal", async () => {
  const allowed: Policy = { judge: async () => undefined };
  const { asked } = await planWith([], allowed);
  expect(asked).toContain('"plan":"pro"');
  expect(asked).not.toContain("555-0199");
  expect((await planWith(["pii:model"], allowed)).asked).toContain("555-0199");
});

test("data that the server's configuration calls personal are judged by it, and no model is asked", async () => {
  const judged: unknown[] = [];
  const denying: Policy = {
    async judge(request) {
      judged.push(request.personal);
      return { message: "plan holds personal data.", hint: "" };
    },
  };
  const { asked, outcome } = await planWith([], denying);
  expect(asked).toBe("");
  expect(outcome).toMatchObject({ payload: { status: "BLOCKED", errors: [{ code: "NO_PLAN" }] } });
  expect(judged).toEqual([{ names: ["plan"], to: "a model" }]);
});

test("personal data of a plan are stored no more than those of a request", async () => {
  const stored: unknown[] = [];
  const desk = createDesk({
    ...{ executors: async () => [], clock: systemClock },
    log: { add: async (one) => void stored.push(one) },
  });
  const send = (grants: ("pii:log" | "pii:model")[]) =>
    desk.deliver(
      newMessage(
        {
          ...{ message_type: "TestPlanReview", sender: "PlannerAgent", recipient: "CriticAgent" },
          ...{ intent: "Review", constraints: { grants } },
          payload: { plan: { test_data: { phone: "555-0199", pii: ["phone"] } } },
        },
        { clock: systemClock, newId: () => crypto.randomUUID() },
      ),
      quiet,
    );
  await send(["pii:model"]);
  expect(JSON.stringify(stored)).toContain('"phone":"(personal data)"');
  expect(JSON.stringify(stored)).not.toContain("555-0199");
  await send(["pii:log"]);
  expect(JSON.stringify(stored)).toContain("555-0199");
});

test("a case that says it only reads cannot hide a request that writes", () => {
  const scenario = (steps: unknown[], reads_only = false): Scenario => ({
    ...{ id: "a", priority: "P1", covers: [], inputs: {}, estimate: 1, reads_only },
    steps: steps as Scenario["steps"],
  });
  const url = "http://shop.test/orders";
  const post = { api_request: { method: "POST", url } };
  const get = { api_request: { url } };
  const writes = (one: Scenario) =>
    writesOf(one, "http://shop.test/").map(({ method, url: to }) => `${method} ${to}`);
  // The server leaves what only reads alone.
  expect(writes(scenario([get]))).toEqual([`GET ${url}`]);
  expect(writes(scenario([get, post], true))).toEqual([`GET ${url}`, `POST ${url}`]);
  expect(writes(scenario(['click "Pay"']))).toEqual(["POST http://shop.test/"]);
  expect(writes(scenario(['check text "Pay"'], true))).toEqual([]);
});
