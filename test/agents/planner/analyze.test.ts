import { expect, test } from "vitest";
import { analyzeTask } from "#agent-client/planner/analyze.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { says } from "../../fixtures/messagesApi/reply.ts";
import { startMessagesApi } from "../../fixtures/messagesApi/server.ts";

const signal = new AbortController().signal;
const unsure = { capabilities: [], domain: "ui_testing", complexity: "simple" };

test.each([
  [
    '{"capabilities": ["SENSOR_READ", "FLYING"], "domain": "sensors"}',
    { capabilities: ["SENSOR_READ"], domain: "sensors" },
  ],
  ['{"capabilities": [], "domain": "cooking"}', {}],
  ["It needs a sensor.", {}],
])("a model that says %s where the rule is unsure", async (answer, known) => {
  const api = await startMessagesApi({ respond: () => says(answer) });
  try {
    const found = await analyzeTask("hm", modelsAt(api.url).router(), signal);
    expect(found).toEqual({ ...unsure, ...known });
    expect(api.requests).toHaveLength(1);
  } finally {
    await api.close();
  }
});

test("no model is asked where the rule knows, none stops a task that fails, and a cancelled one ends", async () => {
  const api = await startMessagesApi({ respond: () => says("-") });
  const endpoint = modelsAt(api.url).router();
  expect(await analyzeTask("Read the battery", endpoint, signal)).toMatchObject({ domain: "sensors" });
  expect(api.requests).toHaveLength(0);
  await api.close();
  expect(await analyzeTask("hm", endpoint, signal)).toEqual(unsure);
  await expect(analyzeTask("hm", endpoint, AbortSignal.abort(new Error("stopped")))).rejects.toThrow(
    "stopped",
  );
});
