import type { Locator } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { type Target, waitMs } from "../../elements/target.ts";
import { type Acting, act } from "../acting/act.ts";
import { locate } from "../acting/locate.ts";
import type { DrivenSession } from "../browser/session.ts";

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

type Timed = { timeout_ms: number };

/** A command on one element: it is located, acted on with Playwright's own waiting, and the page it opens is waited for. */
export function elementCommand<Input extends z.ZodObject & z.ZodType<Target & Timed>>(
  session: DrivenSession,
  spec: {
    name: string;
    description: string;
    input: Input;
    /** What the message says, before the element's name. */
    done: string;
    run(locator: Locator, input: z.output<Input>, acting: Acting): Promise<unknown>;
    /** The short way for what is ready now; false, and nothing done, where the element is to be located and waited for. */
    runIfReady?(input: z.output<Input>, acting: Acting): Promise<boolean>;
  },
): Command {
  return defineCommand<Input>({
    name: spec.name,
    description: spec.description,
    effect: "write",
    input: spec.input,
    run(input, signal) {
      const target: Target & Timed = input;
      const options = {
        command: spec.name,
        timeoutMs: target.timeout_ms,
        signal,
        done: `${spec.done} ${nameOf(target)}`,
        awaitsPage: true,
      };
      return act(session, options, async (acting) => {
        if (await spec.runIfReady?.(input, acting)) return;
        const locator = await locate(session, target, signal, acting.left());
        await spec.run(locator, input, acting);
      });
    },
  });
}

/** Options that every Playwright action takes. Navigations are waited for by {@link act}, with a deadline of their own. */
export function actionOptions(acting: Acting) {
  return { timeout: acting.left(), signal: acting.signal, noWaitAfter: true };
}

/** Options of Playwright's navigations: they end when the DOM is ready. */
export function pageOptions(acting: Acting) {
  return { timeout: acting.left(), signal: acting.signal, waitUntil: "domcontentloaded" as const };
}

export function nameOf(target: Target): string {
  return (target.ref ?? target.selector ?? "").slice(0, 80);
}
