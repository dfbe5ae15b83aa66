import type { ToolSpec } from "@labwright/agent-client";
import { expect, it } from "vitest";
import { z } from "zod";
import { createApprovals, type OpenApprovals } from "#agent-client/sessions/approvals.ts";
import { createWorkApi } from "#mcp-server/agents/workApi.ts";
import { linesOf } from "#mcp-server/dashboard/agents/talk.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { agentClock } from "../runtime/lab.ts";

const spec: ToolSpec = {
  ...{ name: "delete_testcase", description: "", input_schema: { type: "object" } },
  ...{ readOnly: false, destructive: true },
};
const gone = { status: 409, body: { error: { code: "HANDOFF_ANSWERED" } } };

/** Runs that ask before `delete_testcase`, and the routes by which people answer. */
function start() {
  const clock = agentClock();
  const openApprovals: OpenApprovals = new Map();
  const store = { ...memoryStore(clock), ...memoryTasks(clock) };
  const api = createWorkApi({
    ...{ store, approvals: () => openApprovals, progressOf: () => undefined },
    investigations: { waiting: async () => [] },
    fault(error) {
      throw error;
    },
  });
  const settings = { approval_timeout_seconds: 300 };
  const call = async (path: string, init?: RequestInit) => {
    const response = await api.request(path, init);
    return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
  };
  return {
    ...{ clock, store, call },
    /** What the model gets in place of the call; undefined when it may be made. */
    asks(owner: string, signal = new AbortController().signal) {
      const session = { id: `of-${owner}`, agent: "keeper", owner };
      const deps = { settings, clock, openApprovals };
      const { gate } = createApprovals({ approvals: [] }, deps, { session, emit: () => {} });
      return gate({ name: spec.name, input: { testcase: owner } }, spec, signal);
    },
    async questions() {
      const { body } = await call("/questions");
      return z.array(z.looseObject({ id: z.string() })).parse(body.questions);
    },
    answer: (id: string, answer: string) =>
      call(`/questions/${id}`, { method: "POST", body: JSON.stringify({ answer }) }),
  };
}

it("answers an agent's question once, whoever is first, and refuses an answer that comes late", async () => {
  const { clock, asks, questions, answer } = start();
  const first = asks("agent:keeper");
  const [question] = await questions();
  expect(question).toMatchObject({
    ...{ kind: "approval", from: "keeper", text: "delete_testcase: It cannot be undone." },
    ...{ options: [{ name: "approve" }, { name: "refuse" }], session_id: "of-agent:keeper" },
    expires_at: new Date(clock.now() + 300_000).toISOString(),
  });
  const id = question?.id ?? "";
  expect(await answer(id, "perhaps")).toMatchObject({ status: 400 });
  const answers = await Promise.all([answer(id, "refuse"), answer(id, "approve")]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const isApproved = answers[1].status === 200;
  expect((await first) === undefined).toBe(isApproved);
  expect(await questions()).toEqual([]);

  const second = asks("local");
  const [late] = await questions();
  await clock.advance(300_000);
  expect(await second).toContain("NOT_APPROVED: it was not approved by");
  expect(await answer(late?.id ?? "", "approve")).toMatchObject(gone);

  const stop = new AbortController();
  const third = asks("local", stop.signal);
  const [stopped] = await questions();
  stop.abort(new Error("stopped"));
  await expect(third).rejects.toThrow("stopped");
  expect(await answer(stopped?.id ?? "", "approve")).toMatchObject(gone);
});

it("shows nothing of other owners, and stops a task once", async () => {
  const { store, call, asks, questions, answer } = start();
  const over = new AbortController();
  const foreign = asks("anna", over.signal);
  expect(await questions()).toEqual([]);
  over.abort(new Error("stopped"));
  await expect(foreign).rejects.toThrow("stopped");
  expect(await answer("unknown", "approve")).toMatchObject(gone);
  for (const [key, owner] of [
    ["ours", "local"],
    ["theirs", "anna"],
  ] as const) {
    await store.createSession({ id: key, agent: "assistant", owner, title: "" });
    const event = { type: "task.asked", owner, order: { task: `task of ${owner}` } };
    await store.addTask({ agent: "task", key, priority: "normal", event });
  }
  const { body } = await call("/tasks");
  expect(body.tasks).toMatchObject([{ key: "ours", title: "task of local", state: "pending" }]);
  expect((await call("/conversations")).body.conversations).toMatchObject([{ id: "ours" }]);
  for (const path of ["/tasks/task/theirs", "/conversations/theirs"])
    expect(await call(path)).toMatchObject({ status: 404 });
  const stop = () => call("/tasks/task/ours", { method: "DELETE" });
  expect([(await stop()).body, (await stop()).body]).toEqual([{ cancelled: true }, { cancelled: false }]);
  expect(await call("/tasks/task/ours")).toMatchObject({ body: { state: "cancelled" } });
});

it("puts what was said before the events that it started, also where a run died", () => {
  const ended = { type: "session_ended", outcome: "done" };
  const question = { type: "handoff", question: "Which?", options: ["a", "b"], details: ["first"] };
  const talk = (said: string[], events: { seq: number; type: string }[]) => {
    const { lines, ...rest } = linesOf(said, events);
    return { ...rest, texts: lines.map(({ text }) => text) };
  };
  const died = { seq: 1, type: "message", text: "half" };
  const asked = [
    { ...question, seq: 10_002 },
    { ...ended, outcome: "needs_input", seq: 10_003 },
  ];
  expect(talk(["one", "two"], [died, ...asked])).toEqual({
    texts: ["one", "half", "two", "Which?\n1. a: first\n2. b", "Ended: needs_input"],
    ...{ isOver: true, options: ["a", "b"] },
  });
  expect(talk(["one", "two", "a"], [died, ...asked])).toMatchObject({ isOver: false, options: [] });
  expect(talk([], [])).toEqual({ texts: [], isOver: true, options: [] });
});
