import type { Locator } from "playwright-core";
import { z } from "zod";
import { type Command, type CommandResult, defineCommand } from "../../contract.ts";
import { targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import type { Actions } from "../acting/action.ts";
import { countAll, locate } from "../acting/locate.ts";
import { ask } from "../acting/question.ts";
import { type DrivenSession, testIdAttributeOf } from "../browser/session.ts";
import type { DescribeOptions } from "../page/agent/agent.ts";
import type { Description } from "../page/agent/answers.ts";
import { askElement, runApart } from "../page/askAgent.ts";
import { findInFrames } from "../page/elementsInFrames.ts";
import { parseForPage } from "../page/selectors.ts";
import { drawnTable, tableOf } from "../page/tables.ts";
import type { Spec, Timed } from "./elementCommand.ts";

/** What the reading itself may take when the element is there. */
const READ_MS = 3_000;

const targetInput = z.strictObject({ ...targetShape, ...timeoutShape });

/** Readings are whole, white space kept; what was read is in `data.value`, of a table in `data.rows`. */
export function readingCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [
    reading(actions, {
      name: "get_text",
      description: "Gives an element's whole visible text as value, or its name where it has no text.",
      input: targetInput,
      async read(locator, _, signal) {
        const { shown, name } = await describeIt(session, locator, { whole: true }, signal);
        const value = shown || name;
        return { message: `${value.length} characters`, data: { value } };
      },
    }),
    reading(actions, {
      name: "get_value",
      description: "Gives what a field holds as value; a password is dots.",
      input: targetInput,
      async read(locator, _, signal) {
        const { value } = await describeIt(session, locator, {}, signal);
        if (value !== undefined) return { message: `${value.length} characters`, data: { value } };
        throw new DeviceError("ACTION_REJECTED", "The element holds no value. Read it with get_text.");
      },
    }),
    reading(actions, {
      name: "get_attribute",
      description: "Gives an attribute as value; null where the element has none.",
      input: targetInput.extend({ attribute: z.string().min(1).max(100) }),
      async read(locator, { attribute }, signal) {
        const { attribute: value = null } = await describeIt(session, locator, { attribute }, signal);
        const message = value === null ? `it has no attribute ${attribute}` : `${value.length} characters`;
        return { message, data: { value } };
      },
    }),
    getCount(actions),
    reading(actions, {
      name: "get_table",
      description:
        "Gives a table or grid as columns and rows, each row an object by its headers; total where the page says that there are more rows than it holds.",
      input: targetInput,
      async read(locator, _, signal) {
        const drawn = await runApart(locator, z.string(), drawnTable, undefined, {
          timeout: READ_MS,
          signal,
        });
        const { columns, rows, total } = tableOf(drawn);
        const more = total === undefined ? "" : ` of ${total}; the page holds no more of them now`;
        return {
          message: `${rows.length} rows${more}`,
          data: { columns, rows, ...(total !== undefined && { total }) },
        };
      },
    }),
  ];
}

function getCount(actions: Actions): Command {
  const { session } = actions;
  return defineCommand({
    name: "get_count",
    description: "Gives how many elements match as value; hidden ones count only where all are hidden.",
    effect: "read",
    input: z.strictObject({ selector: targetShape.selector.unwrap() }),
    async run({ selector }, signal) {
      await actions.untilUsable(signal);
      const testIdAttribute = testIdAttributeOf(session);
      const query = parseForPage(selector, testIdAttribute);
      const options = { limit: 0, selectors: false, testIdAttribute, all: true };
      const question = { what: "get_count", ms: READ_MS, signal, isOfApp: true };
      const found = await ask(session, question, (limited) =>
        findInFrames(session.page(), query, options, limited),
      );
      const value = countAll(found);
      return { message: `${value} match`, data: { value } };
    },
  });
}

/** A command that reads one element: once the screen is usable, since what acted before it may still change what is read. */
function reading<Input extends z.ZodObject & z.ZodType<Timed>>(
  actions: Actions,
  spec: Spec<Input> & {
    read(locator: Locator, input: z.output<Input>, signal: AbortSignal): Promise<CommandResult>;
  },
): Command {
  return defineCommand<Input>({
    name: spec.name,
    description: spec.description,
    effect: "read",
    input: spec.input,
    async run(input, signal) {
      const target: Timed = input;
      await actions.untilUsable(signal);
      const { session } = actions;
      const question = { what: spec.name, ms: target.timeout_ms, graceMs: READ_MS, signal, isOfApp: true };
      return ask(session, question, async (limited) => {
        const locator = await locate(session, target, limited, target.timeout_ms);
        return spec.read(locator, input, limited);
      });
    },
  });
}

async function describeIt(
  session: DrivenSession,
  locator: Locator,
  wanted: Pick<DescribeOptions, "whole" | "attribute">,
  signal: AbortSignal,
): Promise<Description> {
  const testIdAttribute = testIdAttributeOf(session);
  const options: DescribeOptions = { limit: 1, selectors: false, testIdAttribute, ...wanted };
  const described = await askElement(locator, "describeElement", [options], { timeout: READ_MS, signal });
  if (described) return described;
  throw new DeviceError("ELEMENT_NOT_FOUND", "The element went away while it was read. Look at the screen.");
}
