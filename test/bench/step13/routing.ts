import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { systemClock } from "#agent-client/clock.ts";
import { AgentError } from "#agent-client/errors.ts";
import { type Envelope, newMessage } from "#agent-client/messages/envelope.ts";
import { createDesk } from "#agent-client/roles/desk.ts";
import type { Executor, Outcome } from "#agent-client/roles/executor.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";

const role = z.enum(["web", "api", "planner", "critic"]);
const tasksSchema = z
  .array(
    z.object({
      intent: z.string(),
      message_type: z.string().default("TaskRequest"),
      recipient: z.string().default("RouterAgent"),
      role: z.union([role, z.literal("none")]),
    }),
  )
  .length(40);

const done = async (): Promise<Outcome> => ({ payload: { status: "PASSED" } });
const killed = async (): Promise<Outcome> => {
  throw new AgentError("SERVER_UNREACHABLE", "it was killed", "");
};
const executor = (name: string, of: Executor["role"], run: Executor["run"] = done): Executor => ({
  ...{ name, role: of, run },
  health: async () => ({ isUp: true, load: 0, reason: "" }),
});

/** How many labelled tasks come to an executor of the right role, with one killed executor; and whether a pair that bounces ends. */
export async function measureRouting({ sides, note }: Pick<Bench, "sides" | "note">): Promise<Measurement[]> {
  const file = join(sides.root, "test/bench/step13/routing.json");
  const tasks = tasksSchema.parse(JSON.parse(await readFile(file, "utf8")));
  const stored: Envelope[] = [];
  const all = ["a", "b"].flatMap((host) => [
    executor(`web@${host}`, "web", host === "a" ? killed : done),
    executor(`api@${host}`, "api"),
  ]);
  const deskOf = (executors: Executor[]) =>
    createDesk({
      ...{ executors: async () => executors, clock: systemClock },
      log: { add: async (message) => void stored.push(message) },
    });
  const send = async (desk: ReturnType<typeof deskOf>, given: object) => {
    const draft = {
      sender: "QaClient",
      payload: {},
      expected_response: { type: "Reply", required_fields: ["status"] },
    };
    const message = newMessage(
      { ...draft, message_type: "TaskRequest", recipient: "RouterAgent", intent: "Go", ...given },
      { clock: systemClock, newId: randomUUID },
    );
    const { payload } = await desk.deliver(message, {
      signal: new AbortController().signal,
      progress: () => undefined,
    });
    const decisions = stored.filter(
      ({ in_reply_to, message_type: type }) =>
        type === "RoutingDecision" && in_reply_to === message.message_id,
    );
    return { payload, decisions: decisions.map((one) => decisionSchema.parse(one.payload)) };
  };
  const desk = deskOf([...all, executor("planner", "planner"), executor("critic", "critic")]);
  let right = 0;
  for (const { role: wanted, ...given } of tasks) {
    const { decisions } = await send(desk, given);
    const last = decisions.at(-1);
    const got = last?.outcome === "done" ? (last.role ?? "none") : "none";
    if (got === wanted) right += 1;
    else note(`routing: "${given.intent}" went to ${got}, not to ${wanted}`);
  }
  const bounces = (forward: Executor["role"]) => async () => ({ forward, reason: "not mine" });
  const pair = deskOf([executor("web", "web", bounces("api")), executor("api", "api", bounces("web"))]);
  const { payload, decisions } = await send(pair, { message_type: "WebTestExecutionRequest" });
  if (payload.status !== "BLOCKED") note(`routing: the pair that bounces ended ${payload.status}`);
  return [
    { id: "routing.right", ours: right / tasks.length, runs: tasks.length },
    { id: "routing.hops", ours: decisions.length, runs: 1 },
  ];
}

const decisionSchema = z.looseObject({ role: role.optional(), outcome: z.string() });
