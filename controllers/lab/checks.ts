import { matches, partNote, relation } from "../src/elements/match.ts";
import { quoted } from "../src/elements/quoted.ts";
import { absent, untold } from "../src/elements/readings.ts";
import { calledBy, readState } from "../src/elements/states.ts";
import type { Target } from "../src/elements/target.ts";
import { type Check, defineCheck, nearest, portable, type Reading } from "../src/index.ts";
import { stateChecks } from "../src/screens/stateChecks.ts";
import type { Box } from "./box.ts";
import { appOf } from "./commands.ts";
import type { Connection } from "./connection.ts";
import type { ScreenReader } from "./screenReader.ts";
import type { Item } from "./screens.ts";

/** The portable checks of the box. */
export function boxChecks(box: Box, connection: Connection, reader: ScreenReader): Check[] {
  const about = aboutOne(connection, reader);
  return [
    ...sightChecks(connection, reader),
    ...stateChecks((target, word, signal) =>
      about(target, signal, `is ${word}`, (item) => {
        const thing = { role: item.role, visible: reader.isShown(item), states: reader.statesOf(item) };
        return readState(word, calledBy(target), thing);
      }),
    ),
    defineCheck({
      ...portable.element_text,
      read: ({ text, match, ...target }, signal) =>
        about(target, signal, `${relation(match)} ${quoted(text)}`, ({ name }, expected) => ({
          holds: matches(match, text, name),
          expected,
          actual: `it is ${quoted(name, text)}`,
        })),
    }),
    defineCheck({
      ...portable.element_value,
      read: ({ value, match, ...target }, signal) =>
        about(target, signal, `holds ${quoted(value)}`, ({ id, role }, expected) => {
          if (role !== "textbox") return untold(expected, `it is a ${role}, which holds no value`);
          const found = box.values.get(id) ?? "";
          return { holds: matches(match, value, found), expected, actual: `it is ${quoted(found, value)}` };
        }),
    }),
    countCheck(connection, reader),
    ...screenChecks(box, connection, reader),
  ];
}

/** Judges the one element that a target means; one that is not there is a reading, not an error. */
function aboutOne(connection: Connection, reader: ScreenReader) {
  return async (
    target: Target,
    signal: AbortSignal,
    is: string,
    judge: (item: Item, expected: string) => Reading,
  ): Promise<Reading> => {
    await connection.look(signal);
    const expected = `${calledBy(target)} ${is}`;
    const [item, ...others] = reader.find(target);
    if (!item) return { ...absent(expected, "it is not there"), nearest: reader.nearest(target) };
    if (others.length === 0) return judge(item, expected);
    const actual = `${others.length + 1} elements match; name one`;
    return { holds: false, expected, actual, missing: "unclear" };
  };
}

function sightChecks(connection: Connection, reader: ScreenReader): Check[] {
  const isShown = (item: Item) => reader.isShown(item);
  const counting = async (
    target: Target,
    signal: AbortSignal,
    { is, counts }: { is: string; counts(item: Item): boolean },
  ): Promise<Reading> => {
    await connection.look(signal);
    const found = reader.find(target);
    const holds = found.some(counts);
    const actual = found.length === 0 ? "it is not there" : holds ? "it does" : "it does not";
    return {
      holds,
      expected: `${calledBy(target)} ${is}`,
      actual,
      ...(found.length === 0 && { missing: "absent", nearest: reader.nearest(target) }),
    };
  };
  return [
    defineCheck({
      ...portable.element_exists,
      read: (target, signal) => counting(target, signal, { is: "is there", counts: () => true }),
    }),
    defineCheck({
      ...portable.element_visible,
      read: (target, signal) => counting(target, signal, { is: "can be seen", counts: isShown }),
    }),
    defineCheck({
      ...portable.element_hidden,
      async read(target, signal) {
        await connection.look(signal);
        const found = reader.find(target);
        const seen = found.filter(isShown).length;
        return {
          holds: seen === 0,
          expected: `${calledBy(target)} cannot be seen`,
          actual: seen === 0 ? "it cannot" : `${seen} can be seen`,
          ...(found.length === 0 && { missing: "absent" }),
        };
      },
    }),
  ];
}

function countCheck(connection: Connection, reader: ScreenReader): Check {
  return defineCheck({
    ...portable.element_count,
    async read({ selector, count, min, max }, signal) {
      await connection.look(signal);
      const found = reader.find({ selector });
      const seen = found.filter((item) => reader.isShown(item)).length || found.length;
      const holds =
        (count === undefined || seen === count) &&
        (min === undefined || seen >= min) &&
        (max === undefined || seen <= max);
      const limits = [
        ...(count === undefined ? [] : [`${count}`]),
        ...(min === undefined ? [] : [`at least ${min}`]),
        ...(max === undefined ? [] : [`at most ${max}`]),
      ];
      return {
        holds,
        expected: `${limits.join(", ")} of ${quoted(selector)}`,
        actual: `${seen}`,
        ...(seen === 0 && { missing: "absent" }),
      };
    },
  });
}

function screenChecks(box: Box, connection: Connection, reader: ScreenReader): Check[] {
  return [
    defineCheck({
      ...portable.text_visible,
      async read({ text, match }, signal) {
        await connection.look(signal);
        const seen = reader.texts();
        const holds = seen.some((one) => matches(match, text, one));
        return {
          holds,
          ...(!holds && { missing: "absent" }),
          expected: `the screen shows ${match === "words" ? "" : `a text that ${relation(match)} `}${quoted(text)}`,
          actual:
            seen.length === 0 ? "the screen is dark" : `${seen.join(" | ")}${partNote(match, text, seen)}`,
          nearest: holds ? [] : nearest(text, seen),
        };
      },
    }),
    defineCheck({
      ...portable.app_shown,
      async read({ app }, signal) {
        await connection.look(signal);
        const { id } = appOf(app);
        const front = box.front();
        return { holds: front === id, expected: `${id} is in front`, actual: `${front} is` };
      },
    }),
  ];
}
