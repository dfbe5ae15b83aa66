import { z } from "zod";
import { type Check, type Command, type ControllerContext, defineCommand } from "../contract.ts";
import { inconclusive } from "../elements/readings.ts";
import { DeviceError } from "../errors.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { portable } from "../portable.ts";
import { elementChecks } from "../screens/checks.ts";
import { sent } from "../screens/input.ts";
import { focusCommand, inputCommands } from "../screens/inputCommands.ts";
import { KeyInput } from "../screens/keys.ts";
import { ScreenReader } from "../screens/reader.ts";
import { waitCommand } from "../screens/waitFor.ts";
import { languagesSchema } from "../vision/textChecks.ts";
import { PictureTree } from "./pictureTree.ts";

const settings = z.strictObject({
  languages: languagesSchema.describe(
    "Of the texts on its screen, such as eng, fra, deu. Each one more costs as much time.",
  ),
  references: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe("Names of saved pictures that are elements too, such as icons without a text"),
});
type Settings = z.output<typeof settings>;

/** Of the checks of elements, those of what a picture shows: not whether something is enabled, checked or holds a value. */
const shown: ReadonlySet<string> = new Set(
  [
    ...[portable.element_exists, portable.element_visible, portable.element_hidden],
    ...[portable.element_text, portable.element_count, portable.element_focused],
  ].map(({ name }) => name),
);
/** What a check cannot judge by: no picture, or nothing that reads it. */
const unreadable: ReadonlySet<string> = new Set(["NO_SIGNAL", "ADDON_MISSING", "CONTROLLER_UNAVAILABLE"]);

const whenReadable = (check: Check, reader: ScreenReader): Check => ({
  ...check,
  async read(input, signal, look) {
    try {
      const isOfFocus = check.name === portable.element_focused.name;
      if (isOfFocus && !(await reader.recent(signal)).seen.some(({ node }) => node.focused))
        return inconclusive(check.description, "what has the focus is not known: press an arrow first");
      return await check.read(input, signal, look);
    } catch (error) {
      if (error instanceof DeviceError && unreadable.has(error.code))
        return inconclusive(check.description, error.message);
      throw error;
    }
  },
});

function inputText(keys: KeyInput): Command {
  return defineCommand({
    ...portable.input_text,
    async run({ text, timeout_ms, ...field }, signal) {
      const reached = await keys.reach(field, timeout_ms, signal);
      await keys.edit(reached, signal);
      await keys.reader.look(signal);
      const what = keys.reader.describe(reached);
      if (await keys.typeByKeys(text, signal)) {
        const { texts } = await keys.reader.look(signal);
        const isShown = texts.some((one) => one.toLowerCase().includes(text.toLowerCase()));
        if (isShown) return sent(`typed after OK on ${what}`);
        throw new DeviceError(
          "INPUT_NOT_TAKEN",
          `The keys of the keyboard on the screen were pressed, and the text is not read there. Take a picture; correct it with press_key.`,
        );
      }
      throw new DeviceError(
        "INPUT_NOT_TAKEN",
        `No keyboard was read on the screen after OK on ${what}. Take a picture; where there is one, press its keys with move_focus_to and press_key OK.`,
      );
    },
  });
}

/** The interface of a box begins at its home screen. What needs starting otherwise, a picture cannot start. */
const openApp = (context: ControllerContext, reader: ScreenReader): Command =>
  defineCommand({
    ...portable.open_app,
    description: `${portable.open_app.description} Here by HOME, where the interface of a box begins.`,
    async run(_input, signal) {
      const { name, package: id, url } = context.app() ?? {};
      if (id !== undefined || url !== undefined)
        throw new DeviceError(
          "COMMAND_UNSUITABLE",
          `HOME does not open ${name}, which has ${id === undefined ? "an address" : "a package"}. Lead to it by an edge with keys, or remove that of its app.`,
        );
      await context.device.press("HOME", signal);
      await reader.look(signal);
      return sent("pressed HOME");
    },
  });

function pictureController(given: Settings, context: ControllerContext): DriverController {
  const tree = new PictureTree(context, given);
  const reader = new ScreenReader(tree);
  const keys = new KeyInput(reader, {
    async press(names, signal) {
      for (const name of names) await reader.send(() => context.device.press(name, signal));
    },
    async holdOk() {
      throw new DeviceError("COMMAND_UNSUITABLE", "Hold a key with hold_key of the remote.");
    },
  });
  const offered = new Set<string>(Object.keys(portable));
  let isOpen = false;
  return {
    kind: "remote",
    commands: [
      ...inputCommands(() => keys).filter(({ name }) => offered.has(name)),
      focusCommand(keys),
      inputText(keys),
      openApp(context, reader),
      waitCommand(reader),
    ],
    checks: elementChecks(reader)
      .filter(({ name }) => shown.has(name))
      .map((check) => whenReadable(check, reader)),
    elements: reader.elements,
    focus: reader.focus,
    open: async (signal) => {
      signal.throwIfAborted();
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
      tree.forget();
    },
    isAlive: () => isOpen,
    handOver: () => {
      reader.forget();
      tree.forget();
    },
    noticesAfter: () => [],
  };
}

/** The screen of a TV as elements, read from its picture, and driven by the keys of the device's remote. */
export const pictureUiFactory = defineFactory({
  name: "picture_ui",
  kinds: ["remote"],
  settings,
  offers: () => [pictureController(settings.parse({}), nowhere)],
  create: (given, context) => [pictureController(given, context)],
});
