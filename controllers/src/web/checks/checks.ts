import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { missing, ofSubject } from "../../elements/readings.ts";
import { readState } from "../../elements/states.ts";
import type { StateWord } from "../../elements/stateWords.ts";
import { type Target, targetShape } from "../../elements/target.ts";
import { boundsIn } from "../../elements/titles.ts";
import { portable } from "../../portable.ts";
import { stateChecks } from "../../screens/stateChecks.ts";
import { ANSWER_DEADLINE_MS, ask } from "../acting/question.ts";
import type { CheckSession } from "../browser/session.ts";
import type { Description } from "../page/agent/answers.ts";
import { accessible } from "./accessible.ts";
import { downloadChecks } from "./downloads.ts";
import { elementPropertyChecks } from "./element.ts";
import { layoutCheck } from "./layout.ts";
import { absent, admittingSilence, lookUp, nearestTo, notOne } from "./lookup.ts";
import { valueBetween } from "./numbers.ts";
import { pageChecks } from "./page.ts";
import { requestSeen } from "./requests.ts";
import { tableCell } from "./tables.ts";
import { pageVitals } from "./vitals.ts";

/** The checks of the current tab. Each reads once; the caller polls. Throws DEVICE_LOST if the browser went away. */
export function webChecks(session: CheckSession): readonly Check[] {
  return bareChecks(session).map((check) => ({
    ...check,
    async read(input, signal, { ms = ANSWER_DEADLINE_MS } = {}) {
      const question = { what: check.name, ms, signal, isOfApp: true };
      try {
        return await ask(session, question, (limited) => check.read(input, limited));
      } catch (error) {
        throw await session.blank.causeOf(error);
      }
    },
  }));
}

/** The same without a deadline, for a command that keeps its own over several reads. */
export function bareChecks(session: CheckSession): readonly Check[] {
  const checks = [
    ...elementChecks(session),
    ...webStateChecks(session),
    countCheck(session),
    ...elementPropertyChecks(session),
    valueBetween(session),
    tableCell(session),
    layoutCheck(session),
    ...pageChecks(session),
    requestSeen(session),
    ...downloadChecks(session),
    accessible(session),
    pageVitals(session),
  ];
  return checks.map(admittingSilence);
}

type SightCheck = {
  offered: Pick<Check<z.ZodObject<typeof targetShape>>, "name" | "description" | "input" | "judges">;
  is: string;
  /** `one` is undefined if no element matches. */
  holds(one: Description | undefined): boolean;
};

const sightChecks: readonly SightCheck[] = [
  { offered: portable.element_exists, is: "exists", holds: (one) => one !== undefined },
  {
    offered: {
      ...portable.element_visible,
      description: `${portable.element_visible.description}: laid out, not transparent, not clipped away`,
    },
    is: "is visible",
    holds: (one) => one?.visible === true,
  },
  {
    offered: portable.element_hidden,
    is: "is hidden or absent",
    holds: (one) => one?.visible !== true,
  },
];

/** Of several matches, one visible one is enough. */
function elementChecks(session: CheckSession): Check[] {
  return sightChecks.map(({ offered, is, holds }) =>
    defineCheck({
      ...offered,
      async read(target, signal) {
        const lookup = await lookUp(session, target, signal);
        const isHeld = holds(lookup.first);
        const sight = lookup.first?.visible ? "it is visible" : "it exists and is hidden";
        return {
          holds: isHeld,
          expected: `${lookup.target} ${is}`,
          actual: lookup.first ? sight : absent(lookup),
          ...missing(lookup.count === 0),
          ...(isHeld ? {} : await nearestTo(session, lookup, signal)),
        };
      },
    }),
  );
}

const ofState = (word: StateWord, description: string) => ({
  name: `element_${word}`,
  description,
  title: (element: string) => `${element} is ${word}`,
  input: z.strictObject(targetShape),
  judges: ofSubject,
});

function webStateChecks(session: CheckSession): Check[] {
  const read = async (target: Target, word: StateWord, signal: AbortSignal): Promise<Reading> => {
    const lookup = await lookUp(session, target, signal, { states: true });
    const { first } = lookup;
    if (!first || lookup.count > 1) return notOne(session, lookup, `${lookup.target} is ${word}`, signal);
    return readState(word, lookup.target, { states: {}, ...first });
  };
  return stateChecks(read, [
    [ofState("disabled", "The element is visible and disabled"), "disabled"],
    [
      ofState("editable", "The element is a field that takes text: neither disabled nor read-only"),
      "editable",
    ],
  ]);
}

function countCheck(session: CheckSession): Check {
  return defineCheck({
    ...portable.element_count,
    async read({ selector, count, min, max }, signal) {
      const lookup = await lookUp(session, { selector }, signal, { all: true });
      const holds =
        (count === undefined || lookup.count === count) &&
        (min === undefined || lookup.count >= min) &&
        (max === undefined || lookup.count <= max);
      const wanted = count === undefined ? boundsIn({ min, max }) : String(count);
      return {
        holds,
        expected: `${wanted} match ${lookup.target}`,
        actual: `${lookup.count} match`,
        ...missing(lookup.count === 0),
        ...(holds || lookup.count > 0 ? {} : await nearestTo(session, lookup, signal)),
      };
    },
  });
}
