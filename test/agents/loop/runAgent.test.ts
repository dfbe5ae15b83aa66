import { expect, test } from "vitest";
import type { AgentEventBody } from "#agent-client/events.ts";
import { hold } from "../../fixtures/messagesApi/gate.ts";
import { calls, held, says, thinks, together } from "../../fixtures/messagesApi/reply.ts";
import { nothingRefused, openLoopLab, result, run } from "./loopLab.ts";

const { api } = openLoopLab();

const typesOf = (events: readonly AgentEventBody[]) =>
  events
    .filter((event) => event.type !== "progress" && !(event.type === "message" && event.partial))
    .map((e) => e.type);

test("a tool is called, its result goes back, the run ends done, and all of it is stored", async () => {
  const server = await api(calls("act", { key: "OK" }), says("finished"));
  const { ended, events, stored, log } = await run(server);
  expect(log).toEqual(["act"]);
  expect(typesOf(events)).toEqual(["tool_call", "tool_result", "message"]);
  expect(ended).toMatchObject({ outcome: "done", text: "finished", turns: 2 });
  expect(stored.map(({ role }) => role)).toEqual(["assistant", "user", "assistant"]);
  expect(server.requests[1]?.body.messages).toHaveLength(3);
  nothingRefused(server);
});

test("exactly the given tools are sent, in order, with a breakpoint on the system and the automatic one", async () => {
  const server = await api(says("done"));
  await run(server);
  const body = server.requests[0]?.body;
  expect(body?.tools?.map((tool) => Object.keys(tool).sort())).toEqual([
    ["description", "input_schema", "name"],
    ["description", "input_schema", "name"],
  ]);
  expect(body?.tools?.map(({ name }) => name)).toEqual(["look", "act"]);
  expect(body).toMatchObject({ cache_control: { type: "ephemeral" }, stream: true });
  expect(body?.system).toMatchObject([{ text: "You test.", cache_control: { type: "ephemeral" } }]);
});

test("text comes in pieces, then whole", async () => {
  const server = await api(says("one two three four five six"));
  const { events } = await run(server);
  const pieces = events.flatMap((event) => (event.type === "message" ? [event] : []));
  expect(pieces.at(-1)).toEqual({ type: "message", text: "one two three four five six" });
  expect(
    pieces
      .slice(0, -1)
      .map(({ text }) => text)
      .join(""),
  ).toBe("one two three four five six");
  expect(pieces.length).toBeGreaterThan(2);
});

test("reads of a reply run together, writes alone and in their place, and all are answered in order", async () => {
  const server = await api(
    together(calls("look", {}, "a"), calls("look", {}, "b"), calls("act", {}, "c"), calls("look", {}, "d")),
    says("done"),
  );
  let running = 0;
  const seen: string[] = [];
  const { ended } = await run(server, {
    async call({ name }) {
      running += 1;
      seen.push(`${name}+${running}`);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return result(name);
    },
  });
  expect(ended.outcome).toBe("done");
  expect(seen).toEqual(["look+1", "look+2", "act+1", "look+1"]);
  const [, , last] = server.requests[1]?.body.messages ?? [];
  expect(last?.content).toMatchObject(["a", "b", "c", "d"].map((tool_use_id) => ({ tool_use_id })));
});

test("a tool's failure, and one that throws, are results that the model sees", async () => {
  const server = await api(calls("look"), calls("act"), says("recovered"));
  const { ended, events } = await run(server, {
    async call({ name }) {
      if (name === "act") throw new Error("the wire broke");
      return result("no such element", true);
    },
  });
  expect(ended).toMatchObject({ outcome: "done", text: "recovered" });
  expect(
    events.flatMap((event) => (event.type === "tool_result" ? [[event.is_error, event.text]] : [])),
  ).toEqual([
    [true, "no such element"],
    [true, "the wire broke"],
  ]);
  nothingRefused(server);
});

test("an interrupt stops the tool under way, and the history can be gone on with", async () => {
  const server = await api(calls("act", {}, "use-1"), says("and on"));
  const stop = new AbortController();
  let stopped = false;
  const { ended, history } = await run(server, {
    signal: stop.signal,
    call: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          stopped = true;
          reject(signal.reason);
        });
        stop.abort();
      }),
  });
  expect(ended.outcome).toBe("cancelled");
  expect(stopped).toBe(true);
  const on = await run(server, { history: [...history, { role: "user", content: "go on" }] });
  expect(on.ended).toMatchObject({ outcome: "done", text: "and on" });
  nothingRefused(server);
});

test("an interrupt in the middle of a reply ends it there", async () => {
  const gate = hold();
  const server = await api(held(gate, says("a long answer that nobody waits for"), 4));
  const stop = new AbortController();
  const { ended } = await run(server, {
    signal: stop.signal,
    emit: (event) => {
      if (event.type === "message") stop.abort();
    },
  });
  gate.open();
  expect(ended).toMatchObject({ outcome: "cancelled", turns: 0 });
});

test("a call that is not let through is answered with why, and is not made", async () => {
  const server = await api(calls("act"), says("then not"));
  const { log, events } = await run(server, { gate: async () => "NOT_APPROVED: the user refused it" });
  expect(log).toEqual([]);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_result", is_error: true }));
});

test("pictures stay pictures; thoughts are reported; what has no picture type is named", async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const server = await api(together(thinks("I look first."), calls("look")), says("seen"));
  const { events, ended } = await run(server, {
    call: async () => ({
      isError: false,
      parts: [
        { type: "image", mimeType: "image/png", base64: png },
        { type: "image", mimeType: "image/bmp", base64: png },
        { type: "text", text: "" },
      ],
    }),
  });
  expect(ended.outcome).toBe("done");
  expect(events[0]).toEqual({ type: "thinking", text: "I look first." });
  const [, , results] = server.requests[1]?.body.messages ?? [];
  expect(results?.content).toMatchObject([
    {
      content: [
        { type: "image" },
        { type: "text", text: expect.stringContaining("image/bmp") },
        { type: "text" },
      ],
    },
  ]);
  nothingRefused(server);
});

test("what cannot be stored is not gone on with", async () => {
  const server = await api(calls("act"), says("never"));
  const save = async () => {
    throw new Error("the disk is full");
  };
  await expect(run(server, { save })).rejects.toThrow("the disk is full");
  expect(server.requests).toHaveLength(1);
});
