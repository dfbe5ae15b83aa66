import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiDeps } from "./deps.ts";
import { taskError } from "./errors.ts";
import type { ApiEnv } from "./gate.ts";
import { errorFields, failures, idSchema, json, okResponses, response } from "./schemas.ts";

/** Where seed 002 has its tasks. */
export const tasksPath = "/api/v1/agent/task";
const maxContextBytes = 1_048_576;

/** A task as seed 002 gives it, and what narrows it here. */
export const taskSchema = z
  .strictObject({
    task: z
      .string()
      .trim()
      .min(1)
      .max(1_000)
      .refine((text) => !/<script/i.test(text), "must not contain <script>"),
    context: z
      .record(z.string(), z.unknown())
      .refine(
        (given) => Buffer.byteLength(JSON.stringify(given)) < maxContextBytes,
        "must be under 1 MB of JSON",
      )
      .optional(),
    userinterface_name: z.string().min(1).optional().describe("The app whose nodes a plan may name."),
    device_ids: z.array(z.string().min(1)).max(10).optional().describe("The only devices that it may drive."),
    timeout_ms: z.int().min(1_000).max(3_600_000).optional(),
    template: z.enum(["ai_central_format", "legacy_format"]).optional(),
  })
  .openapi("Task");

const stateSchema = z
  .object({
    task_id: z.string(),
    state: z.enum(["pending", "running", "done", "failed", "cancelled"]),
    result: z.unknown().optional(),
    error: z.string().optional(),
  })
  .openapi("TaskState");
const params = z.object({ id: idSchema });
const taskPath = `${tasksPath}/{id}` as const;

const startTask = createRoute({
  method: "post",
  path: tasksPath,
  summary: "Carry out a task",
  description:
    "Plans, runs, verifies and replans. Answers when it has ended; with `?wait=false` at once with 202. It goes on if the client disconnects.",
  request: {
    query: z.object({ wait: z.enum(["true", "false"]).optional() }),
    body: { required: true, content: json(taskSchema) },
  },
  responses: {
    ...okResponses(
      "How it ended. `result.success` needs evidence.",
      z.object({
        success: z.boolean(),
        task_id: z.string(),
        result: z.unknown(),
        error: errorFields.optional().describe("Why it failed."),
      }),
    ),
    202: response("It is stored.", z.object({ task_id: z.string() })),
  },
});

const getTask = createRoute({
  method: "get",
  path: taskPath,
  summary: "Where a task stands",
  request: { params },
  responses: okResponses("The task.", stateSchema),
});

const cancelTask = createRoute({
  method: "delete",
  path: taskPath,
  summary: "Stop a task",
  description: "One that waits for its turn never runs. Its state is `cancelled`.",
  request: { params },
  responses: {
    ...okResponses("False for a task that had ended.", z.object({ cancelled: z.boolean() })),
    ...failures,
  },
});

export function addTasks(app: OpenAPIHono<ApiEnv>, { tasks, clock }: Pick<ApiDeps, "tasks" | "clock">): void {
  app.openapi(startTask, async (c) => {
    const { id, ended } = await tasks.start(c.get("principal").owner, c.req.valid("json"));
    if (c.req.valid("query").wait === "false") return c.json({ task_id: id }, 202);
    const result = await ended;
    const error = taskError(result, clock, c.req.header("traceparent"));
    return c.json({ success: result.success, task_id: id, result, ...(error && { error }) }, 200);
  });
  app.openapi(getTask, async (c) =>
    c.json(await tasks.get(c.get("principal").owner, c.req.valid("param").id), 200),
  );
  app.openapi(cancelTask, async (c) =>
    c.json({ cancelled: await tasks.cancel(c.get("principal").owner, c.req.valid("param").id) }, 200),
  );
}
