import {
  type AgentEvent,
  calls,
  type Model,
  runAgent,
  says,
  scriptedModel,
  type Toolbox,
  type ToolSpec,
} from "@labwright/agent-client";
import { expect, test } from "vitest";

const spec = (name: string, readOnly: boolean): ToolSpec => ({
  name,
  description: "",
  input_schema: { type: "object" },
  readOnly,
});

function recordingToolbox(fail: ReadonlySet<string> = new Set()) {
  const log: string[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const toolbox: Toolbox = {
    specs: [spec("look", true), spec("act", false)],
    async call({ id, name }) {
      running += 1;
      mostAtOnce = Math.max(mostAtOnce, running);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(name);
      running -= 1;
      return { id, parts: [{ type: "text", text: name }], isError: fail.has(name) };
    },
  };
  return { toolbox, log, most: () => mostAtOnce };
}

async function eventsOf(
  model: Model,
  toolbox: Toolbox,
  options: { maxTurns?: number; signal?: AbortSignal } = {},
) {
  const events: AgentEvent[] = [];
  const run = runAgent({
    model,
    toolbox,
    system: "test",
    prompt: "go",
    maxTurns: options.maxTurns ?? 5,
    signal: options.signal ?? new AbortController().signal,
  });
  for await (const event of run) events.push(event);
  return events;
}

test("a tool is called, its result goes back to the model, and the run ends done", async () => {
  const model = scriptedModel([calls("act", { key: "OK" }), says("finished")]);
  const { toolbox, log } = recordingToolbox();
  const events = await eventsOf(model, toolbox);
  expect(log).toEqual(["act"]);
  expect(events.map(({ type }) => type)).toEqual(["tool_call", "tool_result", "message", "session_ended"]);
  expect(events.at(-1)).toEqual({ type: "session_ended", turns: 2, outcome: "done", text: "finished" });
  expect(model.requests[1]?.messages.at(-1)).toEqual({
    role: "user",
    toolResults: [{ id: "use-act", parts: [{ type: "text", text: "act" }], isError: false }],
  });
});

test("a tool's failure is a result that the model sees, not an end", async () => {
  const model = scriptedModel([calls("act", {}), says("recovered")]);
  const events = await eventsOf(model, recordingToolbox(new Set(["act"])).toolbox);
  expect(events.at(-1)).toMatchObject({ outcome: "done", text: "recovered" });
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ toolResults: [{ isError: true }] });
});

test("reads of one turn run together, writes alone, and all are answered in order", async () => {
  const use = (id: string, name: string) => ({ id, name, input: {} });
  const reads = recordingToolbox();
  const two = [use("1", "look"), use("2", "look")];
  await eventsOf(scriptedModel([{ text: "", stop: "tool_use", toolUses: two }, says("")]), reads.toolbox);
  expect(reads.most()).toBe(2);
  const mixed = recordingToolbox();
  const model = scriptedModel([
    { text: "", stop: "tool_use", toolUses: [use("1", "act"), use("2", "act"), use("3", "look")] },
    says(""),
  ]);
  await eventsOf(model, mixed.toolbox);
  expect(mixed.most()).toBe(1);
  const last = model.requests[1]?.messages.at(-1);
  expect(last && "toolResults" in last && last.toolResults.map(({ id }) => id)).toEqual(["1", "2", "3"]);
});

test("a run ends by name: turn limit, refusal, output limit, failure, cancellation", async () => {
  const { toolbox } = recordingToolbox();
  const endless = scriptedModel(Array.from({ length: 9 }, () => calls("look", {})));
  expect((await eventsOf(endless, toolbox, { maxTurns: 3 })).at(-1)).toMatchObject({
    outcome: "limit",
    limit: "turns",
    turns: 3,
  });
  const stop = (reason: "refusal" | "max_tokens") =>
    eventsOf(scriptedModel([{ text: "", toolUses: [], stop: reason }]), toolbox);
  expect((await stop("refusal")).at(-1)).toMatchObject({ outcome: "refused" });
  expect((await stop("max_tokens")).at(-1)).toMatchObject({ outcome: "limit", limit: "output_tokens" });
  expect((await eventsOf(scriptedModel([]), toolbox)).at(-1)).toMatchObject({ outcome: "failed" });
  const cancelled = AbortSignal.abort(new Error("stop"));
  expect((await eventsOf(endless, toolbox, { signal: cancelled })).at(-1)).toMatchObject({
    outcome: "cancelled",
  });
});
