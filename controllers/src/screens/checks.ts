import { type Check, defineCheck, type Reading } from "../contract.ts";
import { matches, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { untold } from "../elements/readings.ts";
import type { Target } from "../elements/target.ts";
import { portable } from "../portable.ts";
import { cutScreen, darkScreen } from "./dialogs.ts";
import type { ScreenReader } from "./reader.ts";
import type { Screen, Seen } from "./screen.ts";

/** Checks that are polled together share a look: it is no older than this. */
const sharedMs = 200;
const mostTexts = 40;

/** The portable checks of elements and texts. */
export function elementChecks(reader: ScreenReader): Check[] {
  const checks = [...stateChecks(reader), ...wordChecks(reader), countCheck(reader), textCheck(reader)];
  return checks.map((check) => whenLit(reader, check));
}

/** Of a screen that is off nothing can be told, whatever the device says of its elements. */
const whenLit = (reader: ScreenReader, check: Check): Check => ({
  ...check,
  async read(params, signal) {
    const { tree } = await look(reader, signal);
    return tree.isDark ? untold(check.description, darkScreen) : check.read(params, signal);
  },
});

type Judged = boolean | [holds: boolean, actual: string];
type Judge = (seen: Seen) => Judged;

const look = (reader: ScreenReader, signal: AbortSignal) => reader.recent(signal, sharedMs);
/** A reading of what is not there: of a screen that was not read whole it cannot be told. */
const ofAbsence = ({ tree }: Screen, reading: Reading): Reading =>
  tree.isCut ? { ...reading, holds: false, inconclusive: cutScreen } : reading;

const named = ({ ref, selector }: Target) => quoted(selector ?? ref ?? "");

/** Judges the one element that a target means; one that is not there is a reading, not an error. */
async function judgeOne(
  reader: ScreenReader,
  target: Target,
  { is, judge }: { is: string; judge: Judge },
  signal: AbortSignal,
): Promise<Reading> {
  const screen = await look(reader, signal);
  const expected = `${named(target)} ${is}`;
  const [seen, ...others] = reader.find(target, screen);
  if (seen === undefined) {
    const near = reader.nearest(target, screen);
    const reading = { holds: false, expected, actual: "it is not there", absent: true, nearest: near };
    return ofAbsence(screen, reading);
  }
  if (others.length > 0)
    return { holds: false, expected, actual: `${others.length + 1} elements match; name one` };
  const judged = judge(seen);
  if (typeof judged !== "boolean") return { holds: judged[0], expected, actual: `it is ${judged[1]}` };
  return { holds: judged, expected, actual: judged ? "it does" : "it does not" };
}

function stateChecks(reader: ScreenReader): Check[] {
  const has = (state: string) => (seen: Seen) => seen.element.states.includes(state);
  const check = (
    one: Pick<Check, "name" | "description"> & Pick<typeof portable.element_exists, "input">,
    is: string,
    judge: Judge,
  ) => defineCheck({ ...one, read: (target, signal) => judgeOne(reader, target, { is, judge }, signal) });
  return [
    check(portable.element_exists, "is there", () => true),
    check(portable.element_visible, "can be seen", () => true),
    check(portable.element_checked, "is on", has("checked")),
    check(portable.element_enabled, "can be used", ({ node }) => node.enabled),
    check(portable.element_focused, "has the focus", has("focused")),
    defineCheck({
      ...portable.element_hidden,
      async read(target, signal) {
        const screen = await look(reader, signal);
        const count = reader.find(target, screen).length;
        const expected = `${named(target)} cannot be seen`;
        if (count > 0) return { holds: false, expected, actual: `${count} can be seen` };
        return ofAbsence(screen, { holds: true, expected, actual: "it cannot" });
      },
    }),
  ];
}

function wordChecks(reader: ScreenReader): Check[] {
  return [
    defineCheck({
      ...portable.element_text,
      read: ({ text, match, ...target }, signal) => {
        const judge = (seen: Seen): Judged => {
          const found = [seen.text, seen.name].filter((one) => one !== undefined);
          return [found.some((one) => matches(match, text, one)), quoted(found[0] ?? "", text)];
        };
        return judgeOne(reader, target, { is: `${relation(match)} ${quoted(text)}`, judge }, signal);
      },
    }),
    defineCheck({
      ...portable.element_value,
      read: ({ value, match, ...target }, signal) => {
        const judge = ({ element }: Seen): Judged => {
          const found = element.value ?? "";
          return [matches(match, value, found), quoted(found, value)];
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
      const screen = await look(reader, signal);
      const found = reader.find({ selector }, screen).length;
      const { count = 0, min = 0 } = limits;
      const most = Math.min(limits.count ?? unlimited, limits.max ?? unlimited);
      const isEnough = found >= Math.max(count, min);
      const isTooMany = found > most;
      const expected = `${limitWords(limits)} of ${quoted(selector)}`;
      const reading = { holds: isEnough && !isTooMany, expected, actual: `${found}` };
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
      const screen = await look(reader, signal);
      const { texts } = screen;
      const holds = texts.some((one) => matches(match, text, one));
      const how = match === "contains" ? "" : `a text that ${relation(match)} `;
      const reading = {
        holds,
        expected: `the screen shows ${how}${quoted(text)}`,
        actual: texts.length === 0 ? "it shows no text" : texts.slice(0, mostTexts).join(" | "),
        nearest: holds ? [] : nearest(text, new Set(texts)),
      };
      return holds ? reading : ofAbsence(screen, reading);
    },
  });
}
