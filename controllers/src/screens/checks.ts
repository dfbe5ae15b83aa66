import { type Check, defineCheck, type Reading } from "../contract.ts";
import { firstMatch, matchesValue, partNote, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { absent, inconclusive } from "../elements/readings.ts";
import { calledBy, readState } from "../elements/states.ts";
import type { Target } from "../elements/target.ts";
import { portable } from "../portable.ts";
import { cutScreen, darkScreen } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import { type Screen, type Seen, statesOfNode } from "./screen.ts";
import { stateChecks } from "./stateChecks.ts";

/** Checks that are polled together share a snapshot of at most this age. */
const sharedMs = 200;
const mostTexts = 40;

export function elementChecks(reader: ScreenReader): Check[] {
  const checks = [...sightChecks(reader), ...wordChecks(reader), countCheck(reader), textCheck(reader)];
  return checks.map((check) => whenLit(reader, check));
}

/** Checks are inconclusive while the screen is off. */
const whenLit = (reader: ScreenReader, check: Check): Check => ({
  ...check,
  async read(params, signal) {
    const { tree } = await snapshot(reader, signal);
    return tree.isDark ? inconclusive(check.description, darkScreen) : check.read(params, signal);
  },
});

type Judge = (seen: Seen, expected: string) => Reading | Promise<Reading>;

const snapshot = (reader: ScreenReader, signal: AbortSignal) => reader.recent(signal, sharedMs);
/** Absence is inconclusive if the screen was not read whole. */
const ofAbsence = ({ tree }: Screen, reading: Reading): Reading =>
  tree.isCut ? { ...reading, holds: false, inconclusive: cutScreen } : reading;

/** Judges the one element that a target means; one that is not there is a reading, not an error. */
async function judgeOne(
  reader: ScreenReader,
  target: Target,
  { is, judge }: { is: string; judge: Judge },
  signal: AbortSignal,
): Promise<Reading> {
  const screen = await snapshot(reader, signal);
  const expected = `${calledBy(target)} ${is}`;
  const [seen, ...others] = await reader.find(target, screen);
  if (seen === undefined) {
    const near = reader.nearest(target, screen);
    return ofAbsence(screen, { ...absent(expected, "it is not there"), nearest: near });
  }
  if (others.length > 0) {
    const actual = `${others.length + 1} elements match; name one`;
    return { holds: false, expected, actual, missing: "unclear" };
  }
  return judge(seen, expected);
}

function sightChecks(reader: ScreenReader): Check[] {
  const check = (
    one: Pick<Check, "name" | "description" | "judges"> & Pick<typeof portable.element_exists, "input">,
    is: string,
  ) =>
    defineCheck({
      ...one,
      async read(target, signal) {
        const screen = await snapshot(reader, signal);
        const count = (await reader.find(target, screen)).length;
        const expected = `${calledBy(target)} ${is}`;
        if (count > 0) return { holds: true, expected, actual: count === 1 ? "it does" : `${count} do` };
        const near = reader.nearest(target, screen);
        return ofAbsence(screen, { ...absent(expected, "it is not there"), nearest: near });
      },
    });
  return [
    check(portable.element_exists, "is there"),
    check(portable.element_visible, "can be seen"),
    defineCheck({
      ...portable.element_hidden,
      async read(target, signal) {
        const screen = await snapshot(reader, signal);
        const count = (await reader.find(target, screen)).length;
        const expected = `${calledBy(target)} cannot be seen`;
        if (count > 0) return { holds: false, expected, actual: `${count} can be seen` };
        return ofAbsence(screen, { holds: true, expected, actual: "it cannot", missing: "absent" });
      },
    }),
  ];
}

function wordChecks(reader: ScreenReader): Check[] {
  return [
    ...stateChecks((target, word, signal) => {
      const judge = ({ role, node, element }: Seen) =>
        readState(word, calledBy(target), { role, visible: true, states: statesOfNode(node, role, element) });
      return judgeOne(reader, target, { is: `is ${word}`, judge }, signal);
    }),
    defineCheck({
      ...portable.element_text,
      read: ({ text, match, ...target }, signal) => {
        const judge: Judge = async (seen, expected) => {
          const found = [seen.text, seen.name].filter((one) => one !== undefined);
          const holds = (await firstMatch(match, text, found)) >= 0;
          return {
            holds,
            expected,
            actual: `it is ${quoted(found[0] ?? "", text)}${partNote(match, text, found)}`,
          };
        };
        return judgeOne(reader, target, { is: `${relation(match)} ${quoted(text)}`, judge }, signal);
      },
    }),
    defineCheck({
      ...portable.element_value,
      read: ({ value, match, ...target }, signal) => {
        const judge: Judge = async ({ role, element }, expected) => {
          const found = element.value;
          if (found === undefined) return inconclusive(expected, `it is a ${role}, which holds no value`);
          return {
            holds: await matchesValue(match, value, found),
            expected,
            actual: `it is ${quoted(found, value)}${partNote(match, value, [found])}`,
          };
        };
        return judgeOne(reader, target, { is: `holds ${quoted(value)}`, judge }, signal);
      },
    }),
  ];
}

function countCheck(reader: ScreenReader): Check {
  return defineCheck({
    ...portable.element_count,
    async read({ selector, ...limits }, signal) {
      const screen = await snapshot(reader, signal);
      const found = (await reader.find({ selector }, screen)).length;
      const { count = 0, min = 0 } = limits;
      const most = Math.min(limits.count ?? unlimited, limits.max ?? unlimited);
      const isEnough = found >= Math.max(count, min);
      const isTooMany = found > most;
      const expected = `${limitWords(limits)} of ${quoted(selector)}`;
      const reading: Reading = {
        holds: isEnough && !isTooMany,
        expected,
        actual: `${found}`,
        ...(found === 0 && { missing: "absent" }),
      };
      // What was not read can only add to these.
      const isSure = isTooMany || (isEnough && most === unlimited);
      return isSure ? reading : ofAbsence(screen, reading);
    },
  });
}

const unlimited = Number.POSITIVE_INFINITY;
type Limits = { count?: number | undefined; min?: number | undefined; max?: number | undefined };

function limitWords({ count, min, max }: Limits): string {
  const words = [
    ...(count === undefined ? [] : [`${count}`]),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  return words.join(", ");
}

function textCheck(reader: ScreenReader): Check {
  return defineCheck({
    ...portable.text_visible,
    async read({ text, match }, signal) {
      const screen = await snapshot(reader, signal);
      const { texts } = screen;
      const holds = (await firstMatch(match, text, texts)) >= 0;
      const how = match === "words" ? "" : `a text that ${relation(match)} `;
      const part = holds ? "" : partNote(match, text, texts);
      const reading: Reading = {
        holds,
        ...(!holds && { missing: "absent" }),
        expected: `the screen shows ${how}${quoted(text)}`,
        actual: texts.length === 0 ? "it shows no text" : `${texts.slice(0, mostTexts).join(" | ")}${part}`,
        nearest: holds ? [] : nearest(text, new Set(texts)),
      };
      return holds ? reading : ofAbsence(screen, reading);
    },
  });
}
