import type { LabUi, Point } from "../../labUi.ts";
import { keyCode } from "../keyCodes.ts";
import type { Command, CommandContext } from "../system.ts";
import { fail, print } from "./reply.ts";

const sources =
  /^(?:dpad|keyboard|mouse|touchpad|gamepad|touchnavigation|joystick|touchscreen|stylus|trackball)$/;
const swipeMs = 300;
/** From here on a finger that stays is a long press. */
const longPressMs = 500;

/** Meta states of the keys that change what others mean (android.view.KeyEvent). */
const metaStates: Readonly<Record<number, number>> = {
  57: 0x12,
  58: 0x22,
  59: 0x41,
  60: 0x81,
  113: 0x3000,
  114: 0x5000,
};

type Action = (args: readonly string[], context: CommandContext) => number | Promise<number>;

/** `input`: what a person does with fingers and keys. */
export const input: Command = (args, context) => {
  const left = [...args];
  if (sources.test(left[0] ?? "")) left.shift();
  if (left[0] === "-d") left.splice(0, 2);
  const [name = "", ...rest] = left;
  const action = actions[name];
  return action ? action(rest, context) : unknown(name, context);
};

/** Ends well all the same, as AOSP's Input until Android 11 and its InputShellCommand since. */
const unknown = (name: string, context: CommandContext) =>
  context.system.apiLevel < 31
    ? fail(context, `Error: Unknown command: ${name}`, 0)
    : print(context, `Unknown command: ${name}\n`);

const actions: Readonly<Record<string, Action>> = {
  tap: (args, context) => withNumbers(args, 2, context, ([x, y], ui) => ui.tap({ x, y })),
  press: () => 0,
  swipe: (args, context) => withNumbers(args, 4, context, swipe),
  draganddrop: (args, context) =>
    withNumbers(args, 4, context, ([x, y, toX, toY], ui) => ui.drag({ x, y }, { x: toX, y: toY })),
  text: ([text = ""], context) => {
    // Characters without a key: the framework's key map has none for them.
    if (!/^[\x20-\x7e]*$/.test(text)) {
      const problem = "java.lang.NullPointerException: Attempt to get length of null array";
      return fail(context, `Exception occurred while executing 'text':\n${problem}`, 255);
    }
    context.system.ui.type(text.replaceAll("%s", " "));
    return 0;
  },
  keyevent: (args, { system }) => {
    const long = args.includes("--longpress");
    for (const name of args.filter((arg) => !arg.startsWith("--"))) {
      system.ui.key(keyCode(name), long ? { long } : {});
      if (args.includes("--doubletap")) system.ui.key(keyCode(name));
    }
    return 0;
  },
  keycombination: (args, context) => {
    if (context.system.apiLevel < 31) return unknown("keycombination", context);
    const codes = args.filter((arg) => !arg.startsWith("-")).map(keyCode);
    const meta = codes.slice(0, -1).reduce((state, code) => state | (metaStates[code] ?? 0), 0);
    context.system.ui.key(codes.at(-1) ?? 0, { meta });
    return 0;
  },
  motionevent: (args, context) => motion(args, context),
};

type Numbers = [number, number, number, number, number];

function withNumbers(
  args: readonly string[],
  count: number,
  context: CommandContext,
  act: (numbers: Numbers, ui: LabUi) => void,
): number | Promise<number> {
  const numbers = args.map(Number);
  if (numbers.length < count || numbers.some((one) => !Number.isFinite(one))) {
    return fail(context, `Error: Invalid arguments for command: ${args.join(" ")}`, 255);
  }
  const [a = 0, b = 0, c = 0, d = 0, e = swipeMs] = numbers;
  act([a, b, c, d, e], context.system.ui);
  return 0;
}

function swipe([x, y, toX, toY, durationMs]: Numbers, ui: LabUi): void {
  const from = { x, y };
  const stays = x === toX && y === toY;
  if (!stays) ui.swipe(from, { x: toX, y: toY }, durationMs);
  else if (durationMs >= longPressMs) ui.longPress(from);
  else ui.tap(from);
}

const touches = new WeakMap<LabUi, { from: Point; at: number }>();

/** A finger that comes, moves and goes in calls of their own. */
function motion([kind, ...args]: readonly string[], context: CommandContext): number | Promise<number> {
  return withNumbers(args, 2, context, ([x, y], ui) => {
    if (kind === "DOWN") touches.set(ui, { from: { x, y }, at: Date.now() });
    const touch = touches.get(ui);
    if (kind !== "UP" || !touch) return;
    touches.delete(ui);
    swipe([touch.from.x, touch.from.y, x, y, Date.now() - touch.at], ui);
  });
}
