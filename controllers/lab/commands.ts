import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { noSuchKey } from "../src/elements/keys.ts";
import { matches } from "../src/elements/match.ts";
import { hasTarget, type Target } from "../src/elements/target.ts";
import {
  type Command,
  type CommandResult,
  DeviceError,
  defineCommand,
  findingKinds,
  nearest,
  portable,
} from "../src/index.ts";
import type { Box, BoxKey } from "./box.ts";
import { boxKeys, rowsShown } from "./box.ts";
import type { Connection } from "./connection.ts";
import { onlyField, type ScreenReader } from "./screenReader.ts";
import { apps, type Item } from "./screens.ts";

const lookEveryMs = 50;
const isKey = (key: string): key is BoxKey => boxKeys.some((one) => one === key);

/** Input that has reached the box; it works as soon as it is sent. */
const sent = (message: string): CommandResult => ({ message, sentAt: performance.now() });

/** The portable input, of which a test can be told before it runs that the box lacks its key. */
const pressInput = portable.press_key.input.extend({
  key: portable.press_key.input.shape.key.refine(isKey, {
    error: ({ input }) => noSuchKey(String(input), boxKeys).message,
  }),
});

export function keyCommand(box: Box, connection: Connection): Command {
  return defineCommand({
    ...portable.press_key,
    input: pressInput,
    async run({ key, count }, signal) {
      await connection.act(signal);
      for (let pressed = 0; pressed < count; pressed++) box.press(key);
      return sent(`pressed ${key}${count > 1 ? ` ${count} times` : ""}`);
    },
  });
}

/** The portable commands of the box, and one that makes something go wrong. */
export function boxCommands(box: Box, connection: Connection, reader: ScreenReader): Command[] {
  return [
    keyCommand(box, connection),
    ...touchCommands(box, connection, reader),
    ...textCommands(box, connection, reader),
    ...scrollCommands(box, connection, reader),
    waitCommand(connection, reader),
    ...appCommands(box, connection),
    dialogCommand(box, connection),
    faultCommand(box, connection),
  ];
}

function touchCommands(box: Box, connection: Connection, reader: ScreenReader): Command[] {
  const touch = async (target: Target, times: number, signal: AbortSignal) => {
    await connection.act(signal);
    const item = touchable(box, reader, target);
    for (let touched = 0; touched < times; touched++) box.activate(item);
    return sent(`${times > 1 ? "double-clicked" : "clicked"} ${item.name}`);
  };
  return [
    defineCommand({ ...portable.click_element, run: (input, signal) => touch(targetOf(input), 1, signal) }),
    defineCommand({ ...portable.double_click, run: (input, signal) => touch(targetOf(input), 2, signal) }),
  ];
}

function textCommands(box: Box, connection: Connection, reader: ScreenReader): Command[] {
  return [
    defineCommand({
      ...portable.input_text,
      async run({ text, ...input }, signal) {
        await connection.act(signal);
        const item = onlyField(touchable(box, reader, targetOf(input)));
        box.focusOn(item);
        box.write(item, text);
        return sent(`typed into ${item.name}`);
      },
    }),
    defineCommand({
      ...portable.type_text,
      async run({ text, ...input }, signal) {
        await connection.act(signal);
        const item = hasTarget(input) ? touchable(box, reader, targetOf(input)) : box.focused();
        if (!item) throw new DeviceError("ELEMENT_NOT_FOUND", "Nothing has the focus; name the field.");
        box.write(onlyField(item), `${box.values.get(item.id) ?? ""}${text}`);
        return sent(`typed into ${item.name}`);
      },
    }),
  ];
}

function scrollCommands(box: Box, connection: Connection, reader: ScreenReader): Command[] {
  const rows = { up: -rowsShown, down: rowsShown, top: -1_000, bottom: 1_000, left: 0, right: 0 };
  return [
    defineCommand({
      ...portable.scroll,
      async run({ direction }, signal) {
        await connection.act(signal);
        const moved = box.scroll(rows[direction]);
        return sent(moved ? `scrolled ${direction}` : `there is nothing further ${direction}`);
      },
    }),
    defineCommand({
      ...portable.scroll_to_element,
      async run(input, signal) {
        await connection.act(signal);
        const item = reader.one(targetOf(input));
        box.reveal(item);
        return sent(`${item.name} is on the screen`);
      },
    }),
  ];
}

function waitCommand(connection: Connection, reader: ScreenReader): Command {
  return defineCommand({
    ...portable.wait_for,
    async run(input, signal) {
      const conditions = conditionsOf(reader, input);
      const started = performance.now();
      for (;;) {
        await connection.look(signal);
        const elapsed = Math.round(performance.now() - started);
        if (conditions.every((holds) => holds()))
          return { message: `held after ${elapsed} ms`, data: { elapsed_ms: elapsed } };
        if (elapsed >= input.timeout_ms) throw tooLate(input.timeout_ms, reader);
        await pause(lookEveryMs, undefined, { signal });
      }
    },
  });
}

/** What `wait_for` waits for; all of it must hold at once. */
function conditionsOf(
  reader: ScreenReader,
  { state, text, text_gone, ...input }: z.output<typeof portable.wait_for.input>,
): (() => boolean)[] {
  const target = targetOf(input);
  const shows = (wanted: string) => reader.texts().some((one) => matches("words", wanted, one));
  const isShown = () => reader.find(target).some((item) => reader.isShown(item));
  const conditions = [
    ...(hasTarget(target) ? [() => isShown() === (state === "visible")] : []),
    ...(text === undefined ? [] : [() => shows(text)]),
    ...(text_gone === undefined ? [] : [() => !shows(text_gone)]),
  ];
  if (conditions.length > 0) return conditions;
  throw new DeviceError("INVALID_PARAMS", "Nothing to wait for. Give ref or selector, text or text_gone.");
}

const tooLate = (timeoutMs: number, reader: ScreenReader) =>
  new DeviceError(
    "COMMAND_TIMEOUT",
    `Waited ${timeoutMs} ms; the screen shows: ${reader.texts().join(" | ")}. Look at the screen, or wait longer with timeout_ms.`,
  );

function appCommands(box: Box, connection: Connection): Command[] {
  return [
    defineCommand({
      ...portable.open_app,
      async run({ app }, signal) {
        await connection.act(signal);
        const { name, screen } = appOf(app);
        box.open(screen);
        return sent(`opened ${name}`);
      },
    }),
    defineCommand({
      ...portable.close_app,
      async run({ app }, signal) {
        await connection.act(signal);
        const { id, name } = appOf(app);
        if (box.front() !== id) return { message: `${name} was not open` };
        box.open("home");
        return sent(`closed ${name}`);
      },
    }),
  ];
}

/** The app of a package. Throws INVALID_PARAMS with the nearest. */
export function appOf({ package: id }: { package?: string | undefined }): (typeof apps)[number] {
  const found = apps.find((app) => app.id === id);
  if (found) return found;
  const near = nearest(
    id ?? "",
    apps.map((app) => app.id),
  );
  throw new DeviceError(
    "INVALID_PARAMS",
    id === undefined
      ? "This device opens apps by package; give the app one, such as simulated.home."
      : `There is no app ${id}.${near.length > 0 ? ` Nearest: ${near.join(", ")}.` : ""}`,
    { nearest: near },
  );
}

function dialogCommand(box: Box, connection: Connection): Command {
  return defineCommand({
    ...portable.handle_dialog,
    async run({ accept }, signal) {
      await connection.act(signal);
      const answer = accept ? "accepted" : "dismissed";
      return sent(box.answerDialog(accept) ? `${answer} the dialog` : `the next dialog will be ${answer}`);
    },
  });
}

function faultCommand(box: Box, connection: Connection): Command {
  return defineCommand({
    name: "simulate_fault",
    description: "Begins or ends a fault of the simulated device, as those who watch it would see.",
    effect: "write",
    input: z.strictObject({ kind: z.enum(findingKinds), on: z.boolean().default(true) }),
    async run({ kind, on }, signal) {
      await connection.act(signal);
      box.setFault(kind, on);
      return { message: `${kind} ${on ? "began" : "ended"}` };
    },
  });
}

/** What a remote or a finger reaches: nothing behind a dialog, and nothing of a screen that is dark. */
function touchable(box: Box, reader: ScreenReader, target: Target): Item {
  const item = reader.one(target);
  if (box.dialog)
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      `The dialog "${box.dialog.text}" is in front of it; answer it with handle_dialog.`,
    );
  if (box.isDark())
    throw new DeviceError("ELEMENT_NOT_ACTIONABLE", "The screen is dark; press POWER or HOME first.");
  box.reveal(item);
  return item;
}

const targetOf = ({ ref, selector }: Target): Target => ({ ref, selector });
