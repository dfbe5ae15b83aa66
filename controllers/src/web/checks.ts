import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { quoted } from "../quoted.ts";
import { pageChecks } from "./checksOfPage.ts";
import { type Match, matches, matchSchema, matchWords, relation } from "./checksText.ts";
import { type FrameAnswer, findInFrames } from "./elementsInFrames.ts";
import { nearestOnScreen } from "./elementsNearest.ts";
import type { DescribeOptions, Description, Matches } from "./inpageAgent.ts";
import { countAll, describe, frameOfRef, type Target, targetShape, wantedText } from "./locate.ts";
import { ask, LOOK_DEADLINE_MS } from "./question.ts";
import { type ParsedSelector, parseSelector } from "./selectors.ts";
import type { CheckSession } from "./session.ts";

type Look = {
  target: string;
  count: number;
  first: Description | undefined;
  found: FrameAnswer<Matches>[];
  parsed: ParsedSelector;
};

/** Everything that can be judged from one look at the current tab. Single looks: whoever asks polls. */
export function webChecks(session: CheckSession): readonly Check[] {
  return bareChecks(session).map((check) => ({
    ...check,
    read: (input, signal, ms = LOOK_DEADLINE_MS) =>
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
    ...pageChecks(session),
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
  if (!look.first || look.count > 1) {
    return {
      holds: false,
      expected,
      actual: absent(look),
      absent: look.count === 0,
      ...(await nearestTo(session, look, signal)),
    };
  }
  const holds = found !== undefined && (wanted === undefined || matches(match, wanted, found));
  const actual = found === undefined ? `it has no ${what}` : `${what} is ${quoted(found, wanted)}`;
  return { holds, expected, actual };
}

async function lookFor(
  session: CheckSession,
  target: Target,
  signal: AbortSignal,
  wanted: { attribute?: string; whole?: boolean; all?: boolean } = {},
): Promise<Look> {
  const { ref, selector } = target;
  if ((ref === undefined) === (selector === undefined)) {
    throw new DeviceError(
      "INVALID_PARAMS",
      "An element is named by exactly one of ref and selector; give one of them",
    );
  }
  const testIdAttribute = session.context.testIdAttribute();
  const parsed: ParsedSelector =
    ref === undefined ? parseSelector(selector ?? "", testIdAttribute) : { kind: "ref", ref };
  const options: DescribeOptions = {
    limit: 6,
    selectors: false,
    testIdAttribute,
    ...wanted,
  };
  const inReach = ref === undefined || (await frameOfRef(session, ref, signal)) !== undefined;
  const found = inReach ? await findInFrames(session.page(), parsed, options, signal) : [];
  const all = found.flatMap(({ answer }) => answer.first);
  const first = all.find((one) => one.visible) ?? all[0];
  return { target: ref ?? JSON.stringify(selector), count: countAll(found), first, found, parsed };
}

function absent(look: Look): string {
  return look.count > 1 ? `${look.count} elements match; name one of them` : "nothing matches";
}

async function nearestTo(
  session: CheckSession,
  look: Look,
  signal: AbortSignal,
): Promise<{ nearest?: readonly string[] }> {
  if (look.count > 1)
    return { nearest: look.found.flatMap(({ answer }) => answer.first.map(describe)).slice(0, 5) };
  if (look.count === 1 || look.parsed.kind === "ref") return {};
  return { nearest: await nearestOnScreen(session.page(), wantedText(look.parsed, look.target), signal) };
}
