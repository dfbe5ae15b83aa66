import { z } from "zod";
import { noSuchKey } from "../src/elements/keys.ts";
import {
  type Check,
  type Command,
  DeviceError,
  defineCheck,
  defineCommand,
  findingKinds,
  nearest,
  portable,
} from "../src/index.ts";
import { elementChecks } from "../src/screens/checks.ts";
import { dialogCommand } from "../src/screens/dialogCommand.ts";
import { type Point, sent } from "../src/screens/input.ts";
import { inputCommands } from "../src/screens/inputCommands.ts";
import type { ScreenReader } from "../src/screens/reader.ts";
import { type Typing, textCommands } from "../src/screens/textCommands.ts";
import { type Touch, TouchInput } from "../src/screens/touch.ts";
import { waitCommand } from "../src/screens/waitFor.ts";
import { type Box, type BoxKey, boxKeys, rowsShown } from "./box.ts";
import type { Connection } from "./connection.ts";
import { boxSpace, rowRect } from "./picture.ts";
import { apps, type Item } from "./screens.ts";

const isKey = (key: string): key is BoxKey => boxKeys.some((one) => one === key);

/** The portable input, limited to the keys of the box, so that a test with another key is refused before it runs. */
const pressInput = portable.press_key.input.extend({
  key: portable.press_key.input.shape.key.refine(isKey, {
    error: ({ input }) => noSuchKey(String(input), boxKeys).message,
  }),
});

export function keyCommand(box: Box): Command {
  return defineCommand({
    ...portable.press_key,
    input: pressInput,
    async run({ key, count }) {
      for (let pressed = 0; pressed < count; pressed++) box.press(key);
      return sent(`pressed ${key}${count > 1 ? ` ${count} times` : ""}`);
    },
  });
}

export function boxCommands(box: Box, reader: ScreenReader): Command[] {
  const touch = new TouchInput(reader, touchOf(box));
  const offered = new Set<string>(Object.keys(portable));
  return [
    keyCommand(box),
    ...inputCommands(() => touch).filter(({ name }) => offered.has(name)),
    ...textCommands(() => touch, typingOf(box)).filter(({ name }) => offered.has(name)),
    waitCommand(reader),
    ...appCommands(box),
    dialogCommand(() => touch, {
      async answer(accept, isSeen) {
        if (!isSeen) return false;
        box.answerDialog(accept);
        return true;
      },
    }),
    faultCommand(box),
  ];
}

/** Touches: a tap, and a swipe up or down. */
function touchOf(box: Box): Touch {
  const tap = async ({ y }: Point, times: number) => {
    demandFree(box);
    const item = box.shown().find((_, place) => y >= rowRect(place).y && y < rowRect(place + 1).y);
    for (let tapped = 0; item && tapped < times; tapped++) box.activate(item);
  };
  return {
    natural: () => boxSpace,
    inTree: async (pixel) => pixel,
    tap,
    async swipe({ from, to }) {
      box.scroll(Math.sign(from.y - to.y) * rowsShown);
    },
    ...{ hold: notTaken, drag: notTaken, pinch: notTaken },
    hideKeyboard: async () => undefined,
  };
}

async function notTaken(): Promise<never> {
  throw new DeviceError("ACTION_REJECTED", "The simulated box only takes taps and swipes up and down.");
}

function typingOf(box: Box): Typing {
  const write = async (field: Item | undefined, text: string) => {
    demandFree(box);
    if (field?.role !== "textbox")
      throw new DeviceError("INPUT_NOT_TAKEN", "No field has the focus. Name the field.");
    box.focusOn(field);
    box.write(field, text);
  };
  const itemOf = (id: string | undefined) =>
    id === undefined ? box.focused() : box.current().items.find((item) => item.id === id);
  return {
    replace: (field, text) => write(itemOf(field.id), text),
    append(field, text) {
      const item = itemOf(field?.id);
      return write(item, `${box.values.get(item?.id ?? "") ?? ""}${text}`);
    },
  };
}

/** Throws ELEMENT_NOT_ACTIONABLE while a dialog is open. */
function demandFree({ dialog }: Box): void {
  if (dialog)
    throw new DeviceError(
      "ELEMENT_NOT_ACTIONABLE",
      `The dialog "${dialog.text}" is in front of it; answer it with handle_dialog.`,
    );
}

function appCommands(box: Box): Command[] {
  return [
    defineCommand({
      ...portable.open_app,
      async run({ app }) {
        const { name, screen } = appOf(app);
        box.open(screen);
        return sent(`opened ${name}`);
      },
    }),
    defineCommand({
      ...portable.close_app,
      async run({ app }) {
        const { id, name } = appOf(app);
        if (box.front() !== id) return { message: `${name} was not open` };
        box.open("home");
        return sent(`closed ${name}`);
      },
    }),
  ];
}

/** The app of a package. Throws INVALID_PARAMS with the nearest. */
function appOf({ package: id }: { package?: string | undefined }): (typeof apps)[number] {
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

function faultCommand(box: Box): Command {
  return defineCommand({
    name: "simulate_fault",
    description: "Begins or ends a fault of the simulated device, as those who watch it would see.",
    effect: "write",
    input: z.strictObject({ kind: z.enum(findingKinds), on: z.boolean().default(true) }),
    async run({ kind, on }) {
      box.setFault(kind, on);
      return { message: `${kind} ${on ? "began" : "ended"}` };
    },
  });
}

export const boxChecks = (box: Box, connection: Connection, reader: ScreenReader): Check[] => [
  ...elementChecks(reader),
  defineCheck({
    ...portable.app_shown,
    async read({ app }, signal) {
      await connection.use(signal);
      const { id } = appOf(app);
      const front = box.front();
      return { holds: front === id, expected: `${id} is in front`, actual: `${front} is` };
    },
  }),
];
