import { z } from "zod";
import {
  deploymentRunStatusSchema,
  deploymentSchema,
  deploymentStatusSchema,
  paramsSchema,
} from "../domain/index.ts";
import { maxTokensField, paged } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const deploymentRef = { deployment: z.string().describe("Name or id") };
const text = z.string().optional();
const schedule = deploymentSchema.shape;

const shared = { domain: "deployments", capabilities: ["SCHEDULING"], timeoutMs: 30_000 } as const;

const idAndName = z.object({ deployment_id: z.string(), name: z.string() });
const view = idAndName.extend({
  status: deploymentStatusSchema,
  device_id: z.string(),
  next_due: z.string().optional().describe("UTC"),
  next_due_local: z.string().optional().describe("The same in the deployment's time zone"),
});

export const createDeployment = defineTool({
  ...shared,
  name: "create_deployment",
  title: "Schedule a test case or script",
  description: "Run a test case or script when due by cron or dates, behind whoever holds the device",
  effect: "write",
  input: deploymentSchema.extend({
    device_id: schedule.device_id.optional(),
    timezone: schedule.timezone.describe("IANA"),
    dates: schedule.dates.describe("ISO times"),
    missed: schedule.missed.describe("Due while down"),
  }),
  output: view,
  handle: ({ input, services, context }) => services.deployments.create(input, context),
});

export const listDeployments = defineTool({
  ...shared,
  name: "list_deployments",
  title: "List deployments",
  description: "Schedules with what they run, where, and when they are due next",
  effect: "read",
  input: z.strictObject({ status: deploymentStatusSchema.optional(), ...maxTokensField(2_000) }),
  output: z.object({
    deployments: z.array(
      view.omit({ next_due_local: true }).extend({
        testcase: text,
        script: text,
        cron: text,
        timezone: text,
        dates: z.int().optional().describe("How many single dates it has"),
        started: z.int(),
        max_executions: z.int().optional(),
        last: deploymentRunStatusSchema.optional().describe("Of its newest run"),
      }),
    ),
    more: z.int().optional().describe("Not shown; raise max_tokens or filter"),
  }),
  handle: async ({ input: { status, max_tokens }, services }) =>
    paged(await services.deployments.list({ status, maxTokens: max_tokens })),
});

export const updateDeployment = defineTool({
  ...shared,
  name: "update_deployment",
  title: "Change a deployment",
  description: "Change a deployment from its next run on",
  effect: "write",
  idempotent: true,
  // The strict shape is applied by the service, to the whole deployment with its changes.
  input: z.strictObject({
    ...deploymentRef,
    changes: paramsSchema.describe("As in create_deployment; null removes"),
  }),
  output: view,
  handle: ({ input, services }) => services.deployments.update(input.deployment, input.changes),
});

export const pauseDeployment = defineTool({
  ...shared,
  name: "pause_deployment",
  title: "Pause a deployment",
  description: "Start no run until resume_deployment; one under way goes on",
  effect: "write",
  idempotent: true,
  input: z.strictObject(deploymentRef),
  output: view.extend({
    still_running: z.string().optional().describe("Its execution_id"),
    cancelled: z.int().optional().describe("Runs that waited and will not start"),
  }),
  handle: ({ input, services }) => services.deployments.pause(input.deployment),
});

export const resumeDeployment = defineTool({
  ...shared,
  name: "resume_deployment",
  title: "Resume a deployment",
  description: "Go on with the next due time; those in between were not missed",
  effect: "write",
  idempotent: true,
  input: z.strictObject(deploymentRef),
  output: view,
  handle: ({ input, services }) => services.deployments.resume(input.deployment),
});

export const deleteDeployment = defineTool({
  ...shared,
  name: "delete_deployment",
  title: "Delete a deployment",
  description: "Delete a deployment and its history; executions stay",
  effect: "destructive",
  input: z.strictObject({ ...deploymentRef, confirm: z.boolean().default(false) }),
  output: idAndName.extend({ runs: z.int().describe("Deleted with it") }),
  handle: ({ input, services }) => services.deployments.remove(input.deployment, input.confirm),
});

export const getDeploymentHistory = defineTool({
  ...shared,
  name: "get_deployment_history",
  title: "What a deployment ran",
  description: "Its due times and what became of each, skipped and interrupted ones too, newest first",
  effect: "read",
  input: z.strictObject({
    ...deploymentRef,
    status: deploymentRunStatusSchema.optional(),
    ...maxTokensField(2_000),
  }),
  output: idAndName.extend({
    call: z
      .object({ tool: z.enum(["execute_testcase", "execute_script"]), arguments: paramsSchema })
      .describe("Runs now what it runs when due"),
    runs: z.array(
      z.object({
        due_at: z.string(),
        status: deploymentRunStatusSchema,
        execution_id: text,
        reason: text,
        started_at: text,
        finished_at: text,
      }),
    ),
    more: z.int().optional().describe("Not shown; raise max_tokens or filter"),
  }),
  handle: async ({ input: { deployment, status, max_tokens }, services }) =>
    paged(
      await services.deployments.history({
        deployment,
        status,
        maxTokens: max_tokens,
      }),
    ),
});
