import type { Locator } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { type Target, waitMs } from "../../elements/target.ts";
import type { Action, Actions } from "../acting/action.ts";

/** How long a page may take until its DOM is ready. */
export const pageTimeoutShape = {
  timeout_ms: waitMs.default(30_000),
};

/** For commands that open a page. */
export const documentShape = {
  expect_status: z
    .int()
    .min(100)
    .max(599)
    .optional()
    .describe("HTTP status that the page it opens must have, such as 404. Without it, any below 400."),
};

export type Timed = Target & { timeout_ms: number };

export type Spec<Input extends z.ZodObject> = { name: string; description: string; input: Input };

/** A command on one element: it is located, acted on with Playwright's own waiting, and the page it opens is waited for. */
export function elementCommand<Input extends z.ZodObject & z.ZodType<Timed>>(
  actions: Actions,
  spec: Spec<Input> & {
    /** What the message says, before the element's name. */
    done: string;
    run(locator: Locator, input: z.output<Input>, action: Action): Promise<unknown>;
    /** The short way for what is ready now; false, and nothing done, where the element is to be located and waited for. */
    runIfReady?(input: z.output<Input>, action: Action): Promise<boolean>;
  },
): Command {
  return defineCommand<Input>({
    name: spec.name,
    description: spec.description,
    effect: "write",
    input: spec.input,
    run(input, signal) {
      const target: Timed = input;
      const options = {
        command: spec.name,
        timeoutMs: target.timeout_ms,
        signal,
        done: `${spec.done} ${nameOf(target)}`,
        awaitsPage: true,
      };
      return actions.run(options, async (action) => {
        if (await spec.runIfReady?.(input, action)) return;
        await spec.run(await action.locate(target), input, action);
      });
    },
  });
}

/** A command that names no element and takes five seconds at most. */
export function shortCommand<Input extends z.ZodObject>(
  actions: Actions,
  spec: Spec<Input> & {
    done: string | ((input: z.output<Input>) => string);
    awaitsPage?: boolean;
    run(input: z.output<Input>, action: Action): Promise<unknown>;
  },
): Command {
  const { name, description, input, done, awaitsPage = false } = spec;
  return defineCommand<Input>({
    name,
    description,
    effect: "write",
    input,
    async run(given, signal) {
      const said = typeof done === "string" ? done : done(given);
      const options = { command: name, timeoutMs: 5_000, signal, awaitsPage, done: said };
      return actions.run(options, (action) => spec.run(given, action));
    },
  });
}

export function nameOf(target: Target): string {
  return (target.ref ?? target.selector ?? "").slice(0, 80);
}
