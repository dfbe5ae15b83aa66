import { once } from "node:events";
import { WebSocket } from "ws";
import { z } from "zod";
import { calls, says } from "../../fixtures/messagesApi/reply.ts";
import type { Respond } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { type AgentSide, type DaemonFile, startAgentSide } from "../agentSide.ts";
import type { Bench } from "../sides.ts";
import type { StdioServer } from "../stdioServer.ts";

export type Call = { tool: string; input: Readonly<Record<string, unknown>> };

/** What the model answers of a task: its plans in order, what each step with tools calls, and how it reads the results. */
export type Script = {
  plans: readonly object[];
  calls?: readonly Call[];
  isComplete?: boolean;
};

const progressSchema = z.object({ status: z.string() });
const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress_update"), payload: progressSchema }),
  z.object({
    type: z.literal("result"),
    payload: z.looseObject({
      success: z.boolean(),
      replans: z.int(),
      executed_steps: z.array(z.looseObject({ status: z.string() })),
      verification: z.looseObject({ task_complete: z.boolean(), reasoning: z.string() }),
    }),
  }),
  z.object({ type: z.literal("error"), payload: z.unknown() }),
]);
type Result = Extract<z.output<typeof messageSchema>, { type: "result" }>["payload"];

/** `at`: milliseconds since the task was sent. `modelMs`: what of them the model's stand-in has spent. */
export type Phase = { status: string; at: number; modelMs: number };
export type TaskEnd = { result: Result; phases: readonly Phase[]; totalMs: number };

export type TaskSide = {
  daemon: DaemonFile;
  run(task: object, script?: Script): Promise<TaskEnd>;
  close(): Promise<void>;
};

/** A daemon whose tasks are planned by a stand-in of the model that answers at once. */
export async function openTaskSide(
  { sides }: Pick<Bench, "sides">,
  { devices, prepare }: { devices?: readonly object[]; prepare(host: StdioServer): Promise<void> },
): Promise<TaskSide> {
  let script: Script = { plans: [] };
  let plans = 0;
  const respond: Respond = (request, context) => {
    const { firstText } = context;
    if (firstText.includes("\nResults: "))
      return says(JSON.stringify({ task_complete: script.isComplete ?? false, reasoning: "by the results" }));
    if (!/\nStep \d+: /.test(firstText)) return says(JSON.stringify(script.plans[plans++] ?? {}));
    const call = script.calls?.[request.messages.filter(({ role }) => role === "assistant").length];
    return call ? calls(call.tool, call.input) : says("The step is done.");
  };
  const api = await startMessagesApi({ respond });
  let side: AgentSide;
  try {
    side = await startAgentSide(sides, { api: api.url, prepare, ...(devices && { devices }) });
  } catch (error) {
    await api.close();
    throw error;
  }
  return {
    daemon: side.daemon,
    async run(task, given = { plans: [] }) {
      script = given;
      plans = 0;
      if (given.plans.length > 0) await forgetAll(side.daemon);
      return runTask(side.daemon, api, task);
    },
    async close() {
      await side.close();
      await api.close();
    },
  };
}

/** So that a task is planned anew, however often it ran. */
async function forgetAll({ port, token }: DaemonFile): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/memory?all=true`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(await response.text());
}

/** One task over the WebSocket of the tasks, with the time at which each of its phases began. */
async function runTask({ port, token }: DaemonFile, api: MessagesApi, task: object): Promise<TaskEnd> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/agent/stream`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await once(socket, "open");
  const phases: Phase[] = [];
  const spent = api.spentMs();
  const sent = performance.now();
  try {
    const result = new Promise<Result>((resolve, reject) => {
      socket.once("close", () => reject(new Error("The daemon closed the connection.")));
      socket.on("message", (data) => {
        const message = messageSchema.parse(JSON.parse(String(data)));
        if (message.type === "result") return resolve(message.payload);
        if (message.type === "error") return reject(new Error(JSON.stringify(message.payload)));
        const { status } = message.payload;
        const at = performance.now() - sent;
        if (phases.at(-1)?.status !== status) phases.push({ status, at, modelMs: api.spentMs() - spent });
      });
    });
    socket.send(JSON.stringify({ id: "task", type: "task_request", payload: task }));
    return { result: await result, phases, totalMs: performance.now() - sent };
  } finally {
    socket.terminate();
  }
}

/** Milliseconds from the start of one phase to that of the next; without `from` since the task was sent. */
export function between({ phases }: TaskEnd, from: string | undefined, to: string): Phase {
  const start = from === undefined ? -1 : phases.findIndex(({ status }) => status === from);
  const begun = phases[start] ?? { status: "sent", at: 0, modelMs: 0 };
  const end = phases.slice(start + 1).find(({ status }) => status === to);
  if (!end || (from !== undefined && start < 0))
    throw new Error(`No ${from ?? "start"} and ${to} in ${JSON.stringify(phases)}.`);
  return { status: to, at: end.at - begun.at, modelMs: end.modelMs - begun.modelMs };
}
