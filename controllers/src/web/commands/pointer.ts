import type { Locator } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { pause, untilAborted } from "../../waiting/deadlines.ts";
import { type Acting, act } from "../act.ts";
import { askAgent } from "../askAgent.ts";
import { inOneFrame, locate } from "../locate.ts";
import type { DrivenSession } from "../session.ts";
import { actionOptions, elementCommand } from "./elementCommand.ts";

const targetInput = z.strictObject({ ...targetShape, ...timeoutShape });
const point = {
  x: z.number().min(0).max(100_000).describe("CSS pixels from the left of the visible page."),
  y: z.number().min(0).max(100_000).describe("CSS pixels from the top of the visible page."),
};
const button = z.enum(["left", "middle", "right"]).default("left");

/** Clicks, drags and the bare mouse. */
export function pointerCommands(session: DrivenSession): Command[] {
  return [...clicks(session), dragAndDrop(session), dragBy(session), ...mouse(session), leaveWindow(session)];
}

function clicks(session: DrivenSession): Command[] {
  return [
    elementCommand(session, {
      ...portable.click_element,
      done: "clicked",
      runIfReady: (input, acting) => clickIfReady(session, input, acting),
      run: (locator, _, acting) => locator.click(actionOptions(acting)),
    }),
    elementCommand(session, {
      ...portable.double_click,
      done: "double-clicked",
      run: (locator, _, acting) => locator.dblclick(actionOptions(acting)),
    }),
    elementCommand(session, {
      name: "triple_click",
      description: "Clicks three times, which selects a line or paragraph.",
      input: targetInput,
      done: "triple-clicked",
      run: (locator, _, acting) => locator.click({ ...actionOptions(acting), clickCount: 3 }),
    }),
    elementCommand(session, {
      name: "right_click",
      description: "Clicks an element with the right button, which opens its context menu.",
      input: targetInput,
      done: "right-clicked",
      run: (locator, _, acting) => locator.click({ ...actionOptions(acting), button: "right" }),
    }),
    elementCommand(session, {
      name: "hover_element",
      description: "Moves the mouse over an element and leaves it there.",
      input: targetInput,
      done: "hovering over",
      run: (locator, _, acting) => locator.hover(actionOptions(acting)),
    }),
  ];
}

function dragAndDrop(session: DrivenSession): Command {
  return elementCommand(session, {
    name: "drag_and_drop",
    description: "Drags one element onto another.",
    input: z.strictObject({
      ...targetShape,
      to_ref: targetShape.ref.describe("ref of the element to drop on"),
      to_selector: targetShape.selector.describe("selector of the element to drop on"),
      ...timeoutShape,
    }),
    done: "dragged",
    async run(locator, input, acting) {
      const onto = { ref: input.to_ref, selector: input.to_selector };
      const target = await locate(session, onto, acting.signal, acting.left());
      await target.hover({ ...actionOptions(acting), trial: true });
      const from = await middleOf(locator, acting);
      await dragTo(acting, from, async () => {
        await target.scrollIntoViewIfNeeded(actionOptions(acting));
        return middle(await boxOf(target, acting));
      });
    },
  });
}

function dragBy(session: DrivenSession): Command {
  const pixels = z.number().min(-10_000).max(10_000).default(0);
  return elementCommand(session, {
    name: "drag_by",
    description: "Drags an element by its middle, so many pixels to the right and down.",
    input: z.strictObject({
      ...targetShape,
      x: pixels.describe("To the left when negative."),
      y: pixels.describe("Up when negative."),
      ...timeoutShape,
    }),
    done: "dragged",
    async run(locator, { x, y }, acting) {
      const from = await middleOf(locator, acting);
      await dragTo(acting, from, async () => ({ x: from.x + x, y: from.y + y }));
    },
  });
}

/** Widgets follow the mouse on its way, begin to only after a few pixels, and look where it is once in a frame. */
const DRAG_STEPS = 10;
const FRAME_MS = 17;

/**
 * Holds what is under the mouse and lets it go at a place. From then on what is dragged may cover its target, or the page let
 * nothing else take the mouse.
 */
export async function dragTo(
  { page: { mouse }, signal }: Acting,
  from: Place,
  place: () => Promise<Place>,
): Promise<void> {
  await mouse.down();
  try {
    const to = await place();
    for (let step = 1; step <= DRAG_STEPS; step++) {
      const share = step / DRAG_STEPS;
      await untilAborted(
        mouse.move(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share),
        signal,
      );
      await pause(FRAME_MS, signal);
    }
  } finally {
    await mouse.up();
  }
}

type Place = { x: number; y: number };
const middle = ({ x, y, width, height }: Place & { width: number; height: number }): Place => ({
  x: x + width / 2,
  y: y + height / 2,
});

/** Where the mouse is over the middle of an element that it can act on. */
export async function middleOf(locator: Locator, acting: Acting): Promise<Place> {
  await locator.scrollIntoViewIfNeeded(actionOptions(acting));
  const { width, height } = await boxOf(locator, acting);
  await locator.hover({ ...actionOptions(acting), position: { x: width / 2, y: height / 2 } });
  return middle(await boxOf(locator, acting));
}

async function boxOf(locator: Locator, acting: Acting) {
  const box = await locator.boundingBox({ timeout: acting.left(), signal: acting.signal });
  if (box) return box;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The element is there, but it is hidden. Open what contains it first.",
  );
}

function leaveWindow(session: DrivenSession): Command {
  return mouseCommand(
    session,
    "leave_window",
    "Moves the mouse out of the window over its upper edge, as towards the address bar.",
    z.strictObject({}),
    async (_, { page }) => {
      const width = page.viewportSize()?.width ?? 0;
      // The page hears that the mouse leaves only of one that was in it.
      await page.mouse.move(width / 2, 40);
      await page.mouse.move(width / 2, 1);
      await page.mouse.move(width / 2, -40);
    },
  );
}

function mouse(session: DrivenSession): Command[] {
  return [
    mouseCommand(
      session,
      "tap_x_y",
      "Clicks at a point of the page.",
      z.strictObject({ ...point, button }),
      (input, { page }) => page.mouse.click(input.x, input.y, { button: input.button }),
    ),
    mouseCommand(
      session,
      "mouse_move",
      "Moves the mouse to a point.",
      z.strictObject(point),
      (input, { page }) => page.mouse.move(input.x, input.y),
    ),
    mouseCommand(
      session,
      "mouse_down",
      "Presses a mouse button and holds it.",
      z.strictObject({ button }),
      (input, { page }) => page.mouse.down({ button: input.button }),
    ),
    mouseCommand(
      session,
      "mouse_up",
      "Lets go of a mouse button.",
      z.strictObject({ button }),
      (input, { page }) => page.mouse.up({ button: input.button }),
    ),
    mouseCommand(
      session,
      "mouse_wheel",
      "Turns the mouse wheel where the mouse is.",
      z.strictObject({
        delta_x: z.number().min(-100_000).max(100_000).default(0).describe("Pixels, to the right."),
        delta_y: z.number().min(-100_000).max(100_000).default(0).describe("Pixels, downwards."),
      }),
      (input, { page }) => page.mouse.wheel(input.delta_x, input.delta_y),
    ),
  ];
}

function mouseCommand<Input extends z.ZodObject>(
  session: DrivenSession,
  name: string,
  description: string,
  input: Input,
  run: (input: z.output<Input>, acting: Acting) => Promise<void>,
): Command {
  return defineCommand<Input>({
    name,
    description,
    effect: "write",
    input,
    run: (given, signal) =>
      act(session, { command: name, timeoutMs: 5_000, signal, done: "done", awaitsPage: true }, (acting) =>
        run(given, acting),
      ),
  });
}

/**
 * What Playwright does to an element that can be clicked now, without the 350 KB of script that it first puts into each new
 * document. Elements in frames, and those that must be scrolled to, waited for or found again, are left to it.
 */
async function clickIfReady(session: DrivenSession, target: Target, acting: Acting): Promise<boolean> {
  const { page, signal } = acting;
  const place = inOneFrame(session, target);
  if (place === undefined || place.frame !== page.mainFrame()) return false;
  // A document that is being replaced gives no answer; Playwright waits for the next one.
  const asked = askAgent(page, place.frame, "clickPoint", [place.query]).catch(() => undefined);
  const point = await untilAborted(asked, signal);
  if (!point) return false;
  await untilAborted(page.mouse.click(point.x, point.y), signal);
  return true;
}
