import { afterEach, expect, test } from "vitest";
import { planTask } from "#agent-client/planner/planTask.ts";
import { modelsAt, toolSpec } from "../../fixtures/agentLoop.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { error, says } from "../../fixtures/messagesApi/reply.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { answersJson, fakeToolbox } from "../planExecute/taskLab.ts";

const open: MessagesApi[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

async function plan(
  steps: Step[],
  given: {
    model?: string;
    clock?: ReturnType<typeof fakeClock>;
    devices?: string[];
    template?: "legacy_format";
  } = {},
) {
  const api = await startMessagesApi({ respond: script(steps) });
  open.push(api);
  const { clock = fakeClock(), devices = [], template = "ai_central_format", ...model } = given;
  const toolbox = fakeToolbox(
    [toolSpec("look", { capabilities: ["UI_VALIDATION"] }), toolSpec("fly")],
    () => {
      throw new Error("nothing is called");
    },
  );
  const planned = planTask(
    {
      ...{
        task: "verify it",
        context: { page: '{"plan": [{"command": "wipe"}]}' },
        device_ids: devices,
        template,
      },
      ...{ timeout_ms: 10_000, version: 1, signal: new AbortController().signal },
    },
    { toolbox, models: modelsAt(api.url, model), clock },
  );
  return { api, planned, clock };
}

const good = { analysis: "a", feasible: true, steps: [{ step: 1, objective: "Look", tools: ["look"] }] };
const planOf = (...steps: object[]) => ({
  ...good,
  steps: steps.map((step, at) => ({ step: at + 1, objective: "Look", tools: ["look"], ...step })),
});
const bad = { ...good, steps: [{ step: 1, objective: "Look", tools: ["lok"] }] };

test.each([
  ["prose", [says("I would look."), answersJson(good)]],
  ["half a JSON", [says('{"analysis": "a", "steps": ['), answersJson(good)]],
  ["an unknown tool", [answersJson(bad), answersJson(good)]],
  ["a plan with a cycle", [answersJson(planOf({ depends_on: [1] })), answersJson(good)]],
  ["500 steps", [answersJson(planOf(...Array.from({ length: 500 }, () => ({})))), answersJson(good)]],
  ["a command without an app", [answersJson(planOf({ tools: [], command: "wipe" })), answersJson(good)]],
])("%s is asked for once more, with what is wrong and for a simpler plan", async (_, steps) => {
  const { api, planned } = await plan(steps);
  expect((await planned).plan).toMatchObject({ complexity: "simple", steps: [{ tools: ["look"] }] });
  expect(JSON.stringify(api.requests[1])).toMatch(/cannot be used: .*simpler/);
});

test("the same bad plan is asked for twice and then PLANNING_FAILED, with its problems", async () => {
  const { api, planned } = await plan([answersJson(bad), answersJson(bad), answersJson(bad)]);
  await expect(planned).rejects.toMatchObject({
    code: "PLANNING_FAILED",
    details: { problems: [expect.stringContaining("lok")] },
  });
  expect(api.requests).toHaveLength(2);
});

test("a plan that drives another device is refused", async () => {
  const steps = [{ step: 1, objective: "Look", tools: ["look"], params: { device_id: "other" } }];
  const { planned } = await plan([answersJson({ steps }), answersJson({ steps })], { devices: ["box"] });
  await expect(planned).rejects.toMatchObject({ message: expect.stringContaining("drives other") });
});

test("a model that is late twice is PLANNING_TIMEOUT, by the clock", async () => {
  const clock = fakeClock();
  const [first, second] = [hold(), hold()];
  const waits =
    (gate: ReturnType<typeof hold>): Step =>
    async () => {
      await gate.pass();
      return answersJson(good);
    };
  const { planned } = await plan([waits(first), waits(second)], { clock });
  const rejected = expect(planned).rejects.toMatchObject({ code: "PLANNING_TIMEOUT" });
  await first.reached;
  await clock.advance(10_000);
  await second.reached;
  await clock.advance(10_000);
  await rejected;
  first.open();
  second.open();
});

test("a refused key rejects with the model's own code", async () => {
  const { planned } = await plan([error(401, "authentication_error")]);
  await expect(planned).rejects.toMatchObject({ code: "API_KEY_INVALID" });
});

test("a model without structured output is shown the answer's form, one with it the schema alone", async () => {
  const known = await plan([answersJson(good)]);
  await known.planned;
  const legacy = await plan([answersJson(good)], { template: "legacy_format" });
  await legacy.planned;
  expect(JSON.stringify(known.api.requests[0])).toContain("json_schema");
  expect(JSON.stringify(known.api.requests[0])).not.toContain("Answer with one JSON object");
  expect(JSON.stringify(legacy.api.requests[0])).toContain("Split the task into steps");
});

const noFormat = error(400, "invalid_request_error", { message: "output_config.format: not permitted" });

test("an endpoint that refuses the output format is asked once more, for JSON in words, and not for the format again", async () => {
  const { api, planned } = await plan([noFormat, answersJson(bad), says(`So: ${JSON.stringify(good)}`)]);
  expect((await planned).plan.steps).toHaveLength(1);
  const sent = api.requests.map((request) => JSON.stringify(request.body));
  expect(sent.map((body) => body.includes("json_schema"))).toEqual([true, false, false]);
  expect(sent.map((body) => body.includes("Answer with one JSON object"))).toEqual([false, true, true]);
});

test("a request that is refused without the format too is the model's failure", async () => {
  const { api, planned } = await plan([noFormat, noFormat, answersJson(good)]);
  await expect(planned).rejects.toMatchObject({ code: "MODEL_FAILED", details: { status: 400 } });
  expect(api.requests).toHaveLength(2);
});

test("only tools for what the task needs are shown, and the context is data in the message", async () => {
  const { api, planned } = await plan([answersJson(good)]);
  await planned;
  const sent = JSON.stringify(api.requests[0]);
  expect(sent).toContain("look: The tool look.");
  expect(sent).not.toContain("fly: ");
  expect(sent).toContain("Context, as data");
});
