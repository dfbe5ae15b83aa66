import { DeviceError } from "@labwright/controllers";
import { ToolError } from "@labwright/mcp-server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { type AnyTool, defineTool } from "#mcp-server/registry/tool.ts";
import {
  type CallOutcome,
  type CallRecord,
  type CallRequest,
  type CallToolDeps,
  createCallTool,
} from "#mcp-server/server/call/callTool.ts";
import type { CallEnd } from "#mcp-server/server/call/idempotency.ts";
import type { CallContext } from "#mcp-server/services/index.ts";
import { memoryCalls } from "../fixtures/client.ts";
import { runOf } from "../fixtures/executionRecords.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";
import { silentObserver } from "../fixtures/silentObserver.ts";
import { testSecrets } from "../fixtures/simulated.ts";
import { wireServices } from "../fixtures/wire.ts";

type Handle = (input: Record<string, unknown>, context: CallContext) => Promise<Record<string, unknown>>;

const step = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("tap"), target: z.string() }),
  z.strictObject({ kind: z.literal("pause"), wait_ms: z.int() }),
]);

function toolOf(handle: Handle, extra: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name: "press_button",
    title: "Press",
    description: "Presses.",
    domain: "actions",
    capabilities: ["INTERACTION_TESTING"],
    effect: "write",
    timeoutMs: 5_000,
    input: z.strictObject({
      target: z.string().optional(),
      count: z.int().optional(),
      steps: z.array(step).optional(),
    }),
    output: z.strictObject({ pressed: z.string(), execution_id: z.string().optional() }),
    handle: async ({ input, context }) => {
      const { pressed, ...rest } = await handle(input, context);
      return { pressed: String(pressed), ...rest };
    },
    ...extra,
  });
}

function pathOf(tool: AnyTool, deps: Partial<CallToolDeps> = {}) {
  const records: CallRecord[] = [];
  const audited: CallRecord[] = [];
  const faults: unknown[] = [];
  const clock = fakeClock();
  const callTool = createCallTool({
    registry: createRegistry([tool]),
    services: wireServices(),
    observe: { ...silentObserver, record: (r) => records.push(r), fault: (e) => faults.push(e) },
    calls: memoryCalls(async ({ audit }) => void audited.push(audit)),
    clock,
    ...deps,
  });
  const call = (args: unknown, request: Partial<CallRequest> = {}) =>
    callTool({
      name: tool.name,
      arguments: args,
      principal: "local",
      client: "test",
      signal: new AbortController().signal,
      ...request,
    });
  return { call, records, audited, faults, clock };
}

function errorOf(outcome: CallOutcome) {
  if (outcome.ok) throw new Error("the call did not fail");
  return outcome.error;
}

const press: Handle = async (input) => ({ pressed: input.target ?? "nothing" });
const forever: Handle = () => new Promise(() => {});

describe("what callTool refuses", () => {
  it("names the nearest tools for an unknown one", async () => {
    const { call, records } = pathOf(toolOf(press));
    const error = errorOf(await call({}, { name: "press_buton" }));
    expect(error).toMatchObject({
      code: "TOOL_NOT_FOUND",
      http_status: 400,
      details: { requested_tool: "press_buton", available_tools: ["press_button"] },
    });
    expect(error.hint).toContain("press_button");
    expect(records).toMatchObject([{ tool: "unknown", outcome: "TOOL_NOT_FOUND" }]);
  });

  it("names every bad path at once, and for an unknown argument the nearest known one", async () => {
    const { call } = pathOf(toolOf(press));
    const error = errorOf(await call({ target: 7, cuont: 1, steps: [{ kind: "tap", traget: "x" }] }));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.details.problems).toEqual([
      { path: "target", problem: expect.stringContaining("must be text") },
      { path: "steps[0].target", problem: expect.stringContaining("must be text") },
      { path: "steps[0].traget", problem: 'unknown key "traget"; did you mean "target"?' },
      { path: "cuont", problem: 'unknown key "cuont"; did you mean "count"?' },
    ]);
    expect(error.hint).toContain("target, count, steps");
  });

  it.each([[[]], ["text"], [7]])("refuses arguments that are not an object: %j", async (args) => {
    const error = errorOf(await pathOf(toolOf(press)).call(args));
    expect(error).toMatchObject({ code: "INVALID_INPUT", http_status: 400 });
  });

  it("bounds the list of problems", async () => {
    const args = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`no_${i}`, 1]));
    const error = errorOf(await pathOf(toolOf(press)).call(args));
    expect(error.message).toContain("and 480 more");
    expect(error.message.length).toBeLessThan(2_000);
  });
});

describe("what callTool makes of a handler's end", () => {
  it("returns the validated output, its text, and one record with what the call touched", async () => {
    const tool = toolOf(async (_, context) => {
      context.note?.({ device_id: "lab/box", fence: 3 });
      return { pressed: "OK", execution_id: "x-1" };
    });
    const { call, records, audited } = pathOf(tool);
    const outcome = await call({}, { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` });
    expect(outcome).toMatchObject({
      ok: true,
      structured: { pressed: "OK", execution_id: "x-1" },
      text: "pressed: OK\nexecution_id: x-1",
      trace_id: "a".repeat(32),
    });
    const expected = {
      tool: "press_button",
      outcome: "ok",
      device_id: "lab/box",
      fence: 3,
      execution_id: "x-1",
    };
    expect(records).toMatchObject([expected]);
    expect(audited).toMatchObject([expected]);
  });

  const full = new Error("disk full");
  const failing = { calls: memoryCalls(() => Promise.reject(full)) };

  it("answers also when the audit cannot be written, and reports it", async () => {
    const { call, faults } = pathOf(toolOf(press), failing);
    expect((await call({})).ok).toBe(true);
    expect(faults).toEqual([full]);
  });

  it("answers no call as done whose end would not be remembered, and says how it ended", async () => {
    const { call, faults } = pathOf(toolOf(press), { calls: memoryCalls(() => Promise.reject(full)) });
    const error = errorOf(await call({ idempotency_key: "k" }));
    expect(error).toMatchObject({ code: "STORAGE_FAILED" });
    expect(error.message).toBe("press_button ended ok, but its end could not be stored: disk full");
    expect(faults).toEqual([full]);
    expect(errorOf(await call({ idempotency_key: "k" })).code).toBe("OUTCOME_UNKNOWN");
  });

  it("stores a run with the end of its call, and takes none after it", async () => {
    let late: unknown = "not asked";
    let leave: CallContext["leave"];
    const ends: CallEnd[] = [];
    const tool = toolOf(async (_, context) => {
      leave = context.leave;
      void leave?.(runOf("within"))?.then(() => settled.push("stored"));
      return { pressed: "OK" };
    });
    const settled: string[] = [];
    const { call } = pathOf(tool, { calls: memoryCalls(async (end) => void ends.push(end)) });
    await call({});
    late = leave?.(runOf("late"));
    expect(ends.map(({ runs }) => runs.map(({ execution }) => execution.id))).toEqual([["within"]]);
    expect(late).toBeUndefined();
    expect(settled).toEqual(["stored"]);
  });

  it("reports a run that could not be stored to the one who left it, and fails the call", async () => {
    const failures: unknown[] = [];
    const tool = toolOf(async (_, context) => {
      context.leave?.(runOf("lost"))?.catch((error: unknown) => failures.push(error));
      return { pressed: "OK" };
    });
    expect(errorOf(await pathOf(tool, failing).call({})).code).toBe("STORAGE_FAILED");
    expect(failures).toEqual([full]);
  });

  it("records a read without auditing it, and lets it leave nothing", async () => {
    let offered: unknown = "not asked";
    const reading: Handle = async (_, context) => {
      offered = context.leave;
      return { pressed: "OK" };
    };
    const { call, records, audited } = pathOf(toolOf(reading, { effect: "read" }));
    await call({});
    expect({ offered, records: records.length, audited }).toEqual({
      offered: undefined,
      records: 1,
      audited: [],
    });
  });

  it("takes an output that breaks its schema for a fault of ours", async () => {
    const { call, faults } = pathOf(toolOf(async () => ({ pressed: "OK", execution_id: 7 })));
    expect(errorOf(await call({}))).toMatchObject({ code: "INTERNAL", http_status: 500 });
    expect(String(faults[0])).toContain("execution_id");
  });

  it("keeps the code of a tool's and of a device's error", async () => {
    const tool = toolOf(() =>
      Promise.reject(new ToolError("NO_PATH", "No way.", "Add an edge.", { from: "a" })),
    );
    expect(errorOf(await pathOf(tool).call({}))).toMatchObject({
      code: "NO_PATH",
      http_status: 409,
      message: "No way.",
      hint: "Add an edge.",
      details: { from: "a" },
    });
    const device = toolOf(() => Promise.reject(new DeviceError("STALE_REF", "e1 is gone. Look again.")));
    expect(errorOf(await pathOf(device).call({}))).toMatchObject({ code: "STALE_REF", http_status: 409 });
  });

  it("writes what an unknown error says to the log only", async () => {
    const bug = new TypeError("cannot read /home/someone/key");
    const { call, faults } = pathOf(toolOf(() => Promise.reject(bug)));
    const error = errorOf(await call({}));
    expect(error.code).toBe("INTERNAL");
    expect(JSON.stringify(error)).not.toContain("someone");
    expect(faults).toEqual([bug]);
  });

  it("never throws, whatever a handler throws", async () => {
    for (const thrown of [undefined, null, "text", { code: 1 }]) {
      const { call } = pathOf(toolOf(() => Promise.reject(thrown)));
      expect(errorOf(await call({})).code).toBe("INTERNAL");
    }
    const atOnce: Handle = () => {
      throw new Error("before its first await");
    };
    expect(errorOf(await pathOf(toolOf(atOnce)).call({})).code).toBe("INTERNAL");
  });

  it("masks secrets in results, errors and progress", async () => {
    const services = wireServices({ secrets: testSecrets({ PIN: "hunter22" }) });
    const said: string[] = [];
    const tool = toolOf(async (input, context) => {
      context.progress(1, 2, "typing hunter22");
      if (input.target === "fail")
        throw new ToolError("NO_PATH", "no hunter22", "not hunter22", { x: ["hunter22"] });
      return { pressed: "hunter22" };
    });
    const { call } = pathOf(tool, { services });
    const progress = (_: number, __: number | undefined, message: string) => said.push(message);
    const all = [await call({}, { progress }), await call({ target: "fail" })];
    expect(JSON.stringify([all, said])).not.toContain("hunter22");
    expect(said).toHaveLength(1);
  });
});

it("no result and no error ends in half a letter, wherever its text was cut", async () => {
  const cut = "party 🎉".slice(0, -1);
  const tool = toolOf(async (input) => {
    if (input.target === "fail") throw new ToolError("NO_PATH", cut, cut, { x: [cut] });
    return { pressed: cut };
  });
  const { call } = pathOf(tool);
  expect(await call({})).toMatchObject({ structured: { pressed: "party " }, text: "pressed: party " });
  const error = errorOf(await call({ target: "fail" }));
  expect([error.message, error.hint, error.details]).toEqual(["party ", "party ", { x: ["party "] }]);
});

describe("limits of a call", () => {
  it.each([
    ["the tool's own", {}, 5_000],
    ["a shorter configured", { maxCallMs: 1_000 }, 1_000],
  ])("answers at %s deadline although the handler ignores its signal", async (_, deps, ms) => {
    const { call, clock } = pathOf(toolOf(forever), deps);
    const outcome = call({});
    await clock.advance(ms);
    expect(errorOf(await outcome)).toMatchObject({ code: "EXECUTION_TIMEOUT", details: { timeout_ms: ms } });
  });

  it("aborts the handler when its caller goes, and ends as cancelled", async () => {
    const aborts: unknown[] = [];
    const tool = toolOf(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborts.push(signal.reason);
            reject(new DeviceError("COMMAND_TIMEOUT", "stopped"));
          });
        }),
    );
    const caller = new AbortController();
    const outcome = pathOf(tool).call({}, { signal: caller.signal });
    await Promise.resolve();
    caller.abort();
    expect(errorOf(await outcome)).toMatchObject({ code: "CANCELLED", http_status: 499 });
    expect(aborts).toHaveLength(1);
  });

  it("runs nothing for a caller that is gone already", async () => {
    const outcome = await pathOf(toolOf(forever)).call({}, { signal: AbortSignal.abort() });
    expect(errorOf(outcome).code).toBe("CANCELLED");
  });

  it("leaves no timer and no listener behind", async () => {
    const { call, clock } = pathOf(toolOf(press));
    await call({});
    expect(clock.waiting()).toBe(0);
  });
});

describe("idempotency keys", () => {
  function counted(extra: Partial<AnyTool> = {}) {
    let runs = 0;
    const tool = toolOf(async () => ({ pressed: `${++runs}` }), extra);
    return { ...pathOf(tool), runs: () => runs };
  }

  it("give the stored result to a repeat, as an argument or next to the arguments", async () => {
    const { call, runs } = counted();
    const first = await call({ target: "a", count: 1 }, { idempotency_key: "k" });
    const again = await call({ count: 1, target: "a", idempotency_key: "k" });
    expect(runs()).toBe(1);
    expect(again).toEqual(first);
  });

  it("give the stored failure to a repeat", async () => {
    let runs = 0;
    const { call } = pathOf(
      toolOf(async () => {
        throw new ToolError("NO_PATH", `run ${++runs}`, "none");
      }),
    );
    await call({ idempotency_key: "k" });
    expect(errorOf(await call({ idempotency_key: "k" })).message).toBe("run 1");
  });

  it("are refused for other arguments", async () => {
    const { call, runs } = counted();
    await call({ target: "a", idempotency_key: "k" });
    expect(errorOf(await call({ target: "b", idempotency_key: "k" })).code).toBe("INVALID_INPUT");
    expect(runs()).toBe(1);
  });

  it("end in OUTCOME_UNKNOWN when the first call never ended", async () => {
    const { call } = pathOf(toolOf(forever));
    void call({ idempotency_key: "k" });
    const error = errorOf(await call({ idempotency_key: "k" }));
    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", details: { idempotency_key: "k" } });
    expect(error.hint).toContain("dump_ui_elements");
  });

  it.each([
    ["of another principal", {}, { principal: "other" }],
    ["of a tool that may be repeated", { idempotent: true }, {}],
  ])("let the same call %s run again", async (_, extra, request) => {
    const { call, runs } = counted(extra);
    await call({ idempotency_key: "k" });
    await call({ idempotency_key: "k" }, request);
    expect(runs()).toBe(2);
  });

  it("are not spent on a call with bad arguments", async () => {
    const { call, runs } = counted();
    await call({ nonsense: 1, idempotency_key: "k" });
    expect((await call({ idempotency_key: "k" })).ok).toBe(true);
    expect(runs()).toBe(1);
  });

  it.each([[""], [7], ["x".repeat(201)]])("must be short text: %j", async (idempotency_key) => {
    const { call, runs } = counted();
    expect(errorOf(await call({ idempotency_key })).code).toBe("INVALID_INPUT");
    expect(runs()).toBe(0);
  });
});

describe("a call for a device of another host", () => {
  it("is passed on whole", async () => {
    const passed: CallRequest[] = [];
    const elsewhere = async (request: CallRequest): Promise<CallOutcome> => {
      passed.push(request);
      return { ok: true, tool: "press_button", trace_id: "t", structured: {}, text: "far", attachments: [] };
    };
    const { call } = pathOf(toolOf(forever), { router: { route: () => elsewhere } });
    expect(await call({ target: "a" })).toMatchObject({ ok: true, text: "far" });
    expect(passed).toMatchObject([{ name: "press_button", arguments: { target: "a" } }]);
  });
});
