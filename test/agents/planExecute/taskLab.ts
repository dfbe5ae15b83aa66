import { afterEach } from "vitest";
import { systemClock } from "#agent-client/clock.ts";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import type { ModelSource } from "#agent-client/model/models.ts";
import { createTaskRunner } from "#agent-client/planExecute/runner.ts";
import type { TaskEvent, TaskRequest } from "#agent-client/planExecute/task.ts";
import type { Clock, Toolbox, ToolCall, ToolResult, ToolSpec } from "#agent-client/ports.ts";
import { settingsSchema } from "#agent-client/settings.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { says } from "../../fixtures/messagesApi/reply.ts";
import { type Respond, type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";

const noModels: Pick<ModelSource, "current" | "router"> = {
  current: () => [],
  router: () => undefined,
};

/** The tools of a real server, as the agent client calls them. */
export const toolboxOf = ({ client }: TestClient): Toolbox =>
  mcpToolbox({ connect: async () => client, isLost: () => false, silentMs: () => 60_000 });

/** A server with these tools and no other; `call` answers. */
export const fakeToolbox = (
  specs: readonly ToolSpec[],
  call: (use: ToolCall, signal: AbortSignal) => ToolResult | Promise<ToolResult>,
): Toolbox => ({
  specs: async () => specs,
  call: async (use, { signal }) => call(use, signal),
});

export const answersJson = (value: unknown) => says(JSON.stringify(value));

/** Stand-ins of the Messages API that close after each test, and tasks over them. To be called once in a test file. */
export function openTasks() {
  const open: MessagesApi[] = [];
  afterEach(async () => {
    for (const api of open.splice(0)) await api.close();
  });
  async function apiOf(respond: Respond): Promise<MessagesApi> {
    const started = await startMessagesApi({ respond });
    open.push(started);
    return started;
  }
  return {
    /** A script for each kind of request: plans, each step, verifications. */
    apiFor({
      plan,
      steps = {},
      verify = [],
    }: {
      plan: Step[];
      steps?: Record<number, Step[]>;
      verify?: Step[];
    }) {
      const ofStep = new Map(Object.entries(steps).map(([index, replies]) => [index, script(replies)]));
      const [ofPlan, ofVerification] = [script(plan), script(verify)];
      return apiOf((request, context) => {
        const [, step] = /\nStep (\d+): /.exec(context.firstText) ?? [];
        const isVerification = context.firstText.includes("\nResults: ");
        const respond = (step && ofStep.get(step)) || (isVerification ? ofVerification : ofPlan);
        return respond(request, context);
      });
    },
    api: (...steps: Step[]) => apiOf(script(steps)),
    async run(
      toolbox: Toolbox,
      given: Partial<TaskRequest> & {
        api?: MessagesApi;
        model?: string;
        clock?: Clock;
        plan_template?: string;
      },
    ) {
      const { api, model, clock = systemClock, plan_template, ...request } = given;
      const models = api ? modelsAt(api.url, model === undefined ? {} : { model }) : noModels;
      const events: TaskEvent[] = [];
      const result = await createTaskRunner({
        ...{ toolbox, models, clock },
        settings: settingsSchema.parse({ plan_template }),
      }).run({
        task: "Go to Settings and then check that Settings is shown",
        signal: new AbortController().signal,
        emit: (event) => events.push(event),
        ...request,
      });
      return { result, events };
    },
  };
}
