import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import { quoted } from "../quoted.ts";
import { absent, lookFor, nearestTo, notOne } from "./checksLook.ts";
import { downloadChecks } from "./checksOfDownloads.ts";
import { elementPropertyChecks } from "./checksOfElement.ts";
import { layoutCheck } from "./checksOfLayout.ts";
import { valueBetween } from "./checksOfNumbers.ts";
import { pageChecks } from "./checksOfPage.ts";
import { requestSeen } from "./checksOfRequests.ts";
import { tableCell } from "./checksOfTables.ts";
import { type Match, matches, matchSchema, matchWords, relation } from "./checksText.ts";
import type { Description } from "./inpageAgent.ts";
import { type Target, targetShape } from "./locate.ts";
import { ask, LOOK_DEADLINE_MS } from "./question.ts";
import type { CheckSession } from "./session.ts";

/** Everything that can be judged from one look at the current tab. Single looks: whoever asks polls. */
export function webChecks(session: CheckSession): readonly Check[] {
  return bareChecks(session).map((check) => ({
    ...check,
    read: (input, signal, { ms = LOOK_DEADLINE_MS } = {}) =>
      ask(session, { what: check.name, ms, signal }, (limited) => check.read(input, limited)),
  }));
}

/** The same without a deadline, for a command that keeps one of its own over several looks. */
export function bareChecks(session: CheckSession): readonly Check[] {
  return [
    ...elementChecks(session),
    countCheck(session),
    textCheck(session),
    valueCheck(session),
    attributeCheck(session),
    ...elementPropertyChecks(session),
    valueBetween(session),
    tableCell(session),
    layoutCheck(session),
    ...pageChecks(session),
    requestSeen(session),
    ...downloadChecks(session),
  ];
}

type StateCheck = {
  name: string;
  description: string;
  state: string;
  /** Undefined when no element matches. */
  holds(one: Description | undefined): boolean;
  actual(one: Description): string;
};

const stateChecks: readonly StateCheck[] = [
  {
    name: "element_exists",
    description: "The element is in the page, shown or not",
    state: "exists",
    holds: (one) => one !== undefined,
    actual: () => "it exists",
  },
  {
    name: "element_visible",
    description: "The element can be seen: laid out, not transparent, not clipped away",
    state: "is visible",
    holds: (one) => one?.visible === true,
    actual: (one) => (one.visible ? "it is visible" : "it exists and is hidden"),
  },
  {
    name: "element_hidden",
    description: "The element cannot be seen, or is not in the page",
    state: "is hidden or absent",
    holds: (one) => one?.visible !== true,
    actual: (one) => (one.visible ? "it is visible" : "it is hidden"),
  },
  {
    name: "element_enabled",
    description: "The element is visible and not disabled",
    state: "is enabled",
    holds: (one) => one?.visible === true && one.enabled,
    actual: (one) => (one.enabled ? (one.visible ? "it is enabled" : "it is hidden") : "it is disabled"),
  },
  {
    name: "element_disabled",
    description: "The element is visible and disabled",
    state: "is disabled",
    holds: (one) => one?.visible === true && !one.enabled,
    actual: (one) => (one.enabled ? "it is enabled" : one.visible ? "it is disabled" : "it is hidden"),
  },
  {
    name: "element_checked",
    description: "The checkbox, radio button or switch is on",
    state: "is checked",
    holds: (one) => one?.checked === true,
    actual: (one) => (one.checked ? "it is checked" : "it is not checked"),
  },
  {
    name: "element_focused",
    description: "The element has the keyboard's focus",
    state: "is focused",
    holds: (one) => one?.focused === true,
    actual: (one) => (one.focused ? "it is focused" : "it is not focused"),
  },
];

function elementChecks(session: CheckSession): Check[] {
  return stateChecks.map((state) =>
    defineCheck({
      name: state.name,
      description: state.description,
      input: z.strictObject(targetShape),
      async read(target, signal) {
        const look = await lookFor(session, target, signal);
        const isOne = /exists|visible|hidden/.test(state.name) || look.count < 2;
        const holds = isOne && state.holds(look.first);
        return {
          holds,
          expected: `${look.target} ${state.state}`,
          actual: look.first && isOne ? state.actual(look.first) : absent(look),
          absent: look.count === 0,
          ...(holds ? {} : await nearestTo(session, look, signal)),
        };
      },
    }),
  );
}

function countCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_count",
    description: "So many elements match; visible ones are counted, hidden ones only where all are hidden",
    input: z
      .strictObject({
        selector: targetShape.selector.unwrap(),
        count: z.int().min(0).optional(),
        min: z.int().min(0).optional(),
        max: z.int().min(0).optional(),
      })
      .refine(
        (input) => input.count !== undefined || input.min !== undefined || input.max !== undefined,
        "give count, min or max",
      ),
    async read({ selector, count, min, max }, signal) {
      const look = await lookFor(session, { selector }, signal, { all: true });
      const holds =
        (count === undefined || look.count === count) &&
        (min === undefined || look.count >= min) &&
        (max === undefined || look.count <= max);
      const wanted =
        count !== undefined
          ? `${count}`
          : [min !== undefined && `at least ${min}`, max !== undefined && `at most ${max}`]
              .filter(Boolean)
              .join(" and ");
      return {
        holds,
        expected: `${wanted} match ${look.target}`,
        actual: `${look.count} match`,
        absent: look.count === 0,
        ...(holds || look.count > 0 ? {} : await nearestTo(session, look, signal)),
      };
    },
  });
}

function textCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_text",
    description: `The element's visible text, or its name where it has no text; ${matchWords}`,
    input: z.strictObject({
      ...targetShape,
      text: z.string().max(100_000),
      match: matchSchema.default("same"),
    }),
    read: ({ text, match, ...target }, signal) =>
      compare(session, target, { what: "text", wanted: text, match }, (one) => one.shown || one.name, signal),
  });
}

function valueCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_value",
    description: `What the field holds; a password reads as dots; ${matchWords}`,
    input: z.strictObject({
      ...targetShape,
      value: z.string().max(100_000),
      match: matchSchema.default("same"),
    }),
    read: ({ value, match, ...target }, signal) =>
      compare(session, target, { what: "value", wanted: value, match }, (one) => one.value, signal),
  });
}

function attributeCheck(session: CheckSession): Check {
  return defineCheck({
    name: "element_attribute",
    description: `An attribute of the element; without value, that it is there; ${matchWords}`,
    input: z.strictObject({
      ...targetShape,
      attribute: z.string().min(1).max(100),
      value: z.string().max(100_000).optional(),
      match: matchSchema.default("same"),
    }),
    read: ({ attribute, value, match, ...target }, signal) =>
      compare(
        session,
        target,
        { what: `attribute ${attribute}`, wanted: value, match, attribute },
        (one) => one.attribute,
        signal,
      ),
  });
}

type Comparison = { what: string; wanted: string | undefined; match: Match; attribute?: string };

async function compare(
  session: CheckSession,
  target: Target,
  { what, wanted, match, attribute }: Comparison,
  read: (one: Description) => string | undefined,
  signal: AbortSignal,
): Promise<Reading> {
  const look = await lookFor(session, target, signal, { whole: true, ...(attribute ? { attribute } : {}) });
  const found = look.first && look.count < 2 ? read(look.first) : undefined;
  const expected =
    wanted === undefined
      ? `${look.target} has ${what}`
      : `${what} of ${look.target} ${relation(match)} ${quoted(wanted, found)}`;
  if (!look.first || look.count > 1) return notOne(session, look, expected, signal);
  const holds = found !== undefined && (wanted === undefined || matches(match, wanted, found));
  const actual = found === undefined ? `it has no ${what}` : `${what} is ${quoted(found, wanted)}`;
  return { holds, expected, actual };
}
