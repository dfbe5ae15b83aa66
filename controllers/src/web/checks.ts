import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import { type Match, matches, matchSchema, matchWords, relation } from "../elements/match.ts";
import { quoted } from "../elements/quoted.ts";
import { type Target, targetShape } from "../elements/target.ts";
import { portable } from "../portable.ts";
import { absent, lookFor, nearestTo, notOne } from "./checksLook.ts";
import { downloadChecks } from "./checksOfDownloads.ts";
import { elementPropertyChecks } from "./checksOfElement.ts";
import { layoutCheck } from "./checksOfLayout.ts";
import { valueBetween } from "./checksOfNumbers.ts";
import { pageChecks } from "./checksOfPage.ts";
import { requestSeen } from "./checksOfRequests.ts";
import { tableCell } from "./checksOfTables.ts";
import type { Description } from "./inpageAgent.ts";
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
  offered: Pick<Check<z.ZodObject<typeof targetShape>>, "name" | "description" | "input">;
  state: string;
  /** Undefined when no element matches. */
  holds(one: Description | undefined): boolean;
  actual(one: Description): string;
};

const stateChecks: readonly StateCheck[] = [
  {
    offered: portable.element_exists,
    state: "exists",
    holds: (one) => one !== undefined,
    actual: () => "it exists",
  },
  {
    offered: {
      ...portable.element_visible,
      description: `${portable.element_visible.description}: laid out, not transparent, not clipped away`,
    },
    state: "is visible",
    holds: (one) => one?.visible === true,
    actual: (one) => (one.visible ? "it is visible" : "it exists and is hidden"),
  },
  {
    offered: portable.element_hidden,
    state: "is hidden or absent",
    holds: (one) => one?.visible !== true,
    actual: (one) => (one.visible ? "it is visible" : "it is hidden"),
  },
  {
    offered: portable.element_enabled,
    state: "is enabled",
    holds: (one) => one?.visible === true && one.enabled,
    actual: (one) => (one.enabled ? (one.visible ? "it is enabled" : "it is hidden") : "it is disabled"),
  },
  {
    offered: {
      name: "element_disabled",
      description: "The element is visible and disabled",
      input: z.strictObject(targetShape),
    },
    state: "is disabled",
    holds: (one) => one?.visible === true && !one.enabled,
    actual: (one) => (one.enabled ? "it is enabled" : one.visible ? "it is disabled" : "it is hidden"),
  },
  {
    offered: portable.element_checked,
    state: "is checked",
    holds: (one) => one?.checked === true,
    actual: (one) => (one.checked ? "it is checked" : "it is not checked"),
  },
  {
    offered: portable.element_focused,
    state: "is focused",
    holds: (one) => one?.focused === true,
    actual: (one) => (one.focused ? "it is focused" : "it is not focused"),
  },
];

function elementChecks(session: CheckSession): Check[] {
  return stateChecks.map((state) =>
    defineCheck({
      ...state.offered,
      async read(target, signal) {
        const look = await lookFor(session, target, signal);
        const isOne = /exists|visible|hidden/.test(state.offered.name) || look.count < 2;
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
    ...portable.element_count,
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
    ...portable.element_text,
    read: ({ text, match, ...target }, signal) =>
      compare(session, target, { what: "text", wanted: text, match }, (one) => one.shown || one.name, signal),
  });
}

function valueCheck(session: CheckSession): Check {
  return defineCheck({
    ...portable.element_value,
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
