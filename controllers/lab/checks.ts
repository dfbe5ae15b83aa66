import { matches, relation } from "../src/elements/match.ts";
import { quoted } from "../src/elements/quoted.ts";
import type { Target } from "../src/elements/target.ts";
import { type Check, defineCheck, nearest, portable, type Reading } from "../src/index.ts";
import type { Box } from "./box.ts";
import { appOf } from "./commands.ts";
import type { Connection } from "./connection.ts";
import type { ScreenReader } from "./screenReader.ts";
import type { Item } from "./screens.ts";

/** The portable checks of the box. */
export function boxChecks(box: Box, connection: Connection, reader: ScreenReader): Check[] {
  const about = aboutOne(connection, reader);
  return [
    defineCheck({
      ...portable.element_exists,
      read: (target, signal) => about(target, signal, "is there", () => true),
    }),
    defineCheck({
      ...portable.element_visible,
      read: (target, signal) => about(target, signal, "can be seen", (item) => reader.isShown(item)),
    }),
    defineCheck({
      ...portable.element_hidden,
      async read(target, signal) {
        await connection.look(signal);
        const seen = reader.find(target).filter((item) => reader.isShown(item)).length;
        const expected = `${named(target)} cannot be seen`;
        return { holds: seen === 0, expected, actual: seen === 0 ? "it cannot" : `${seen} can be seen` };
      },
    }),
    defineCheck({
      ...portable.element_checked,
      read: (target, signal) => about(target, signal, "is on", ({ id }) => box.checked.has(id)),
    }),
    defineCheck({
      ...portable.element_enabled,
      read: (target, signal) =>
        about(target, signal, "can be used", (item) => item.role !== "heading" && reader.isShown(item)),
    }),
    defineCheck({
      ...portable.element_focused,
      read: (target, signal) => about(target, signal, "has the focus", (item) => box.focused() === item),
    }),
    defineCheck({
      ...portable.element_text,
      read: ({ text, match, ...target }, signal) =>
        about(target, signal, `${relation(match)} ${quoted(text)}`, ({ name }) => [
          matches(match, text, name),
          quoted(name, text),
        ]),
    }),
    defineCheck({
      ...portable.element_value,
      read: ({ value, match, ...target }, signal) =>
        about(target, signal, `holds ${quoted(value)}`, ({ id }) => {
          const found = box.values.get(id) ?? "";
          return [matches(match, value, found), quoted(found, value)];
        }),
    }),
    countCheck(connection, reader),
    ...screenChecks(box, connection, reader),
  ];
}

type Judged = boolean | [holds: boolean, actual: string];

/** Judges the one element that a target means; one that is not there is a reading, not an error. */
function aboutOne(connection: Connection, reader: ScreenReader) {
  return async (
    target: Target,
    signal: AbortSignal,
    is: string,
    judge: (item: Item) => Judged,
  ): Promise<Reading> => {
    await connection.look(signal);
    const expected = `${named(target)} ${is}`;
    const [item, ...others] = reader.find(target);
    if (!item) {
      return {
        holds: false,
        expected,
        actual: "it is not there",
        absent: true,
        nearest: reader.nearest(target),
      };
    }
    if (others.length > 0)
      return { holds: false, expected, actual: `${others.length + 1} elements match; name one` };
    const judged = judge(item);
    if (typeof judged !== "boolean") return { holds: judged[0], expected, actual: `it is ${judged[1]}` };
    return { holds: judged, expected, actual: judged ? "it does" : "it does not" };
  };
}

const named = ({ ref, selector }: Target) => quoted(selector ?? ref ?? "");

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
      return { holds, expected: `${limits.join(", ")} of ${quoted(selector)}`, actual: `${seen}` };
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
          expected: `the screen shows ${match === "contains" ? "" : `a text that ${relation(match)} `}${quoted(text)}`,
          actual: seen.length === 0 ? "the screen is dark" : seen.join(" | "),
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
