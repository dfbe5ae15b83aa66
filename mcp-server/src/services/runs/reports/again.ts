import { z } from "zod";
import { type Execution, type ExecutionKind, paramsSchema, type RunView } from "../../../domain/index.ts";
import type { Secrets } from "../../ports.ts";

type Again = RunView["again"];
type Called = z.output<typeof calledSchema>;

const calledSchema = z
  .object({
    ...{ testcase: z.string(), row: z.string(), inputs: paramsSchema, allow_production: z.boolean() },
    start: z.object({ fresh: z.boolean().optional() }),
    ...{ script: z.string(), args: z.array(z.string()) },
    ...{ target: z.string(), edge: z.string(), variables: paramsSchema },
    ...{ actions: z.unknown(), retry_actions: z.unknown(), failure_actions: z.unknown() },
  })
  .partial();

/** For each kind that can run again: its tool and what that takes besides device and app. */
const calls: Partial<Record<ExecutionKind, (called: Called, run: Execution) => Again>> = {
  testcase: ({ testcase, row, inputs, start, allow_production }, { name, environment, release, build }) =>
    row === undefined
      ? {
          tool: "execute_testcase",
          args: {
            ...{ testcase: testcase ?? name, inputs: inputs ?? {}, fresh: start?.fresh },
            ...{ environment, release, build, allow_production },
          },
        }
      : { why: `It is one row of ${testcase}. Run that again: it runs all rows.` },
  script: ({ script, args = [] }, { name }) => ({
    tool: "execute_script",
    args: { script: script ?? name, args },
  }),
  actions: ({ actions, retry_actions, failure_actions }) => ({
    tool: "execute_device_action",
    args: { actions, retry_actions, failure_actions },
  }),
  navigation: ({ target, edge, variables }) =>
    edge === undefined
      ? { tool: "navigate_to_node", args: { node: target, variables } }
      : { tool: "execute_edge", args: { edge, variables } },
  validation: () => ({ tool: "validate_navigation", args: {} }),
};

/** The call that runs an ended run again on its device with its inputs, or why there is none. */
export function againOf(run: Execution, secrets: Pick<Secrets, "mask">): Again {
  const made = calls[run.kind]?.(calledSchema.safeParse(run.input).data ?? {}, run);
  if (!made) return { why: `A run of kind ${run.kind} cannot be started again from here.` };
  if ("why" in made) return made;
  const place = {
    device_id: run.device,
    // Actions belong to no app.
    ...(run.kind !== "actions" && { userinterface_name: run.userinterface }),
  };
  const given = Object.entries({ ...place, ...made.args }).filter(([, value]) => value !== undefined);
  const args = Object.fromEntries(given);
  return JSON.stringify(secrets.mask(args)) === JSON.stringify(args)
    ? { tool: made.tool, args }
    : { why: "Its inputs hold a secret, which is not kept. Start it where you started it first." };
}
