import type { Locator, Request } from "playwright-core";
import { z } from "zod";
import type { Command } from "../../contract.ts";
import { type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { pause, untilAborted } from "../../waiting/deadlines.ts";
import type { Action, Actions } from "../acting/action.ts";
import { clickPlace, placeSchema } from "../acting/clickPlace.ts";
import { inOneFrame } from "../acting/locate.ts";
import { askAgent, askElement, askOverDevTools, runApart } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";
import { isMainDocument } from "../page/requests.ts";
import { documentShape, elementCommand, shortCommand } from "./elementCommand.ts";

const targetInput = z.strictObject({ ...targetShape, ...timeoutShape });
const point = {
  x: z.number().min(0).max(100_000).describe("CSS pixels from the left of the visible page."),
  y: z.number().min(0).max(100_000).describe("CSS pixels from the top of the visible page."),
};
const button = z.enum(["left", "middle", "right"]).default("left");

export function pointerCommands(actions: Actions): Command[] {
  return [...clicks(actions), dragAndDrop(actions), dragBy(actions), ...mouse(actions)];
}

function clicks(actions: Actions): Command[] {
  return [
    elementCommand(actions, {
      ...portable.click_element,
      input: portable.click_element.input.extend(documentShape),
      done: "clicked",
      runIfReady: (input, action) => clickIfReady(input, action),
      async run(locator, _, action) {
        const position = await clickPlace(locator, action.limits);
        await pressOnce(locator, action, () =>
          locator.click({ ...action.limits, ...(position && { position }) }),
        );
      },
    }),
    elementCommand(actions, {
      ...portable.double_click,
      input: portable.double_click.input.extend(documentShape),
      done: "double-clicked",
      run: (locator, _, action) => pressTimes(locator, 2, action, () => locator.dblclick(action.limits)),
    }),
    elementCommand(actions, {
      name: "triple_click",
      description: "Clicks three times, which selects a line or paragraph.",
      input: targetInput,
      done: "triple-clicked",
      run: (locator, _, action) =>
        pressTimes(locator, 3, action, () => locator.click({ ...action.limits, clickCount: 3 })),
    }),
    elementCommand(actions, {
      name: "right_click",
      description: "Clicks an element with the right button, which opens its context menu.",
      input: targetInput,
      done: "right-clicked",
      run: (locator, _, action) =>
        pressOnce(locator, action, () => locator.click({ ...action.limits, button: "right" })),
    }),
    elementCommand(actions, {
      name: "hover_element",
      description: "Moves the mouse over an element and leaves it there.",
      input: targetInput,
      done: "hovering over",
      run: (locator, _, action) => locator.hover(action.limits),
    }),
  ];
}

function dragAndDrop(actions: Actions): Command {
  return elementCommand(actions, {
    name: "drag_and_drop",
    description: "Drags one element onto another.",
    input: z.strictObject({
      ...targetShape,
      to_ref: targetShape.ref.describe("ref of the element to drop on"),
      to_selector: targetShape.selector.describe("selector of the element to drop on"),
      ...timeoutShape,
    }),
    done: "dragged",
    async run(locator, input, action) {
      const onto = { ref: input.to_ref, selector: input.to_selector };
      const target = await action.locate(onto);
      await target.hover({ ...action.limits, trial: true });
      const from = await middleOf(locator, action);
      await dragFrom(locator, action, from, async () => {
        await target.scrollIntoViewIfNeeded(action.limits);
        return middle(await boxOf(target, action));
      });
    },
  });
}

function dragBy(actions: Actions): Command {
  const pixels = z.number().min(-10_000).max(10_000).default(0);
  return elementCommand(actions, {
    name: "drag_by",
    description:
      "Drags an element, so many pixels to the right and down: by its middle, or by an edge or corner, which resizes what can be.",
    input: z.strictObject({
      ...targetShape,
      x: pixels.describe("To the left when negative."),
      y: pixels.describe("Up when negative."),
      by: z.enum(handles).default("middle"),
      ...timeoutShape,
    }),
    done: "dragged",
    async run(locator, { x, y, by }, action) {
      const from = await middleOf(locator, action, by);
      await dragFrom(locator, action, from, async () => ({ x: from.x + x, y: from.y + y }));
    },
  });
}

/** Between two tries of a press that something else was about to receive, and the least time that a try is given. */
const RETRY_MS = 100;
/** Widgets follow the mouse on its way, begin to only after a few pixels, and look where it is once in a frame. */
const DRAG_STEPS = 10;
const FRAME_MS = 17;

/**
 * Holds what is under the mouse and lets it go at a place. From then on what is dragged may cover its target, or the page let
 * nothing else take the mouse.
 */
export async function dragTo(action: Action, from: Place, place: () => Promise<Place>): Promise<void> {
  const { signal } = action;
  const { mouse } = action.page;
  await action.send(() => mouse.down());
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

/** {@link dragTo} from a place on an element. Throws ELEMENT_NOT_ACTIONABLE where something else was held. */
async function dragFrom(
  locator: Locator,
  action: Action,
  from: Place,
  place: () => Promise<Place>,
): Promise<void> {
  const by = await pressed(locator, 1, action, () => dragTo(action, from, place));
  if (by !== undefined) throw taken("The element was not dragged", by, 0);
}

type Place = { x: number; y: number };
const middle = ({ x, y, width, height }: Place & { width: number; height: number }): Place => ({
  x: x + width / 2,
  y: y + height / 2,
});

const handles = [
  "middle",
  "top",
  "bottom",
  "left",
  "right",
  "top_left",
  "top_right",
  "bottom_left",
  "bottom_right",
] as const;
type Handle = (typeof handles)[number];
/** From the edge to the handle at it, in pixels: inside of a textarea's, whose own is 15 wide. */
const INSET = 4;

/** Where the mouse is over the middle, or another handle, of an element that it can act on. */
export async function middleOf(locator: Locator, action: Action, by: Handle = "middle"): Promise<Place> {
  await locator.scrollIntoViewIfNeeded(action.limits);
  const { width, height } = await boxOf(locator, action);
  const along = (length: number, low: boolean, high: boolean) =>
    low ? Math.min(INSET, length / 2) : high ? Math.max(length - INSET, length / 2) : length / 2;
  const position = {
    x: along(width, by.endsWith("left"), by.endsWith("right")),
    y: along(height, by.startsWith("top"), by.startsWith("bottom")),
  };
  const border = await runApart(locator, placeSchema, borderOf, undefined, action.limits);
  await locator.hover({
    ...action.limits,
    position: { x: position.x - border.x, y: position.y - border.y },
  });
  const { x, y } = await boxOf(locator, action);
  return { x: x + position.x, y: y + position.y };
}

async function boxOf(locator: Locator, action: Action) {
  const box = await locator.boundingBox({ timeout: action.left(), signal: action.signal });
  if (box) return box;
  throw new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    "The element is there, but it is hidden. Open what contains it first.",
  );
}

function mouse(actions: Actions): Command[] {
  const mouseCommand = <Input extends z.ZodObject>(
    name: string,
    description: string,
    input: Input,
    run: (input: z.output<Input>, action: Action) => Promise<void>,
  ) => shortCommand(actions, { name, description, input, done: "done", awaitsPage: true, run });
  return [
    mouseCommand(
      "tap_x_y",
      "Clicks at a point of the page.",
      z.strictObject({ ...point, button, clicks: z.int().min(1).max(3).default(1), ...documentShape }),
      ({ x, y, button, clicks: clickCount }, { page }) => page.mouse.click(x, y, { button, clickCount }),
    ),
    mouseCommand("mouse_move", "Moves the mouse to a point.", z.strictObject(point), ({ x, y }, { page }) =>
      page.mouse.move(x, y),
    ),
    mouseCommand(
      "mouse_down",
      "Presses a mouse button and holds it.",
      z.strictObject({ button }),
      (input, { page }) => page.mouse.down({ button: input.button }),
    ),
    mouseCommand("mouse_up", "Lets go of a mouse button.", z.strictObject({ button }), (input, { page }) =>
      page.mouse.up({ button: input.button }),
    ),
    mouseCommand(
      "mouse_wheel",
      "Turns the mouse wheel where the mouse is.",
      z.strictObject({
        delta_x: z.number().min(-100_000).max(100_000).default(0).describe("Pixels, to the right."),
        delta_y: z.number().min(-100_000).max(100_000).default(0).describe("Pixels, downwards."),
      }),
      (input, { page }) => page.mouse.wheel(input.delta_x, input.delta_y),
    ),
    mouseCommand(
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
    ),
  ];
}

/**
 * What Playwright does to an element that can be clicked now, without the 350 KB of script that it first puts into each new
 * document. Elements in frames, and those that must be scrolled to, waited for or found again, are left to it.
 */
async function clickIfReady(target: Target, action: Action): Promise<boolean> {
  const { session, page, signal } = action;
  const place = await inOneFrame(session, target, signal);
  if (place === undefined || place.frame !== page.mainFrame()) return false;
  // A document that is being replaced gives no answer; Playwright waits for the next one.
  const asked = askOverDevTools(place.frame, "clickPoint", [place.query]).catch(() => undefined);
  const point = await untilAborted(asked, signal);
  if (!point) return false;
  // What another element was about to receive did not reach the page: Playwright waits until the way is free.
  const by = await takenBy(action, () => untilAborted(page.mouse.click(point.x, point.y), signal));
  return by === undefined;
}

/**
 * What received the press in place of the element. A press that opens a page reached its element. The document that is left
 * answers nothing more: Chromium asks it nothing from the request for the next one on.
 */
async function takenBy({ page, signal }: Action, press: () => Promise<void>): Promise<string | undefined> {
  const leaving = new AbortController();
  const leave = (request: Request) => {
    if (isMainDocument(page, request)) leaving.abort();
  };
  page.on("request", leave);
  try {
    await press();
    const asked = askFrames(page, signal, (frame) => askAgent(frame, "pressTakenBy", [])).catch(() => []);
    const answers = await untilAborted(asked, AbortSignal.any([signal, leaving.signal])).catch(() => []);
    signal.throwIfAborted();
    return answers.flatMap(({ answer }) => answer ?? []).at(0);
  } finally {
    page.off("request", leave);
  }
}

/**
 * Playwright keeps a press from whatever comes in its way at the last moment, and ends all the same, since it is not to wait for
 * navigations: so the press is tried again until it reaches the element. Throws ELEMENT_NOT_ACTIONABLE with what takes it.
 */
async function pressOnce(locator: Locator, action: Action, press: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const by = await pressed(locator, 1, action, press);
    if (by === undefined) return;
    if (action.left() <= 2 * RETRY_MS)
      throw taken(`The element is there, but it is covered by ${by}`, by, performance.now() - startedAt);
    await pause(RETRY_MS, action.signal);
  }
}

/** The same for several presses, of which the first may bring something in the way of the others: they are not tried again. */
async function pressTimes(
  locator: Locator,
  presses: number,
  action: Action,
  press: () => Promise<void>,
): Promise<void> {
  const by = await pressed(locator, presses, action, press);
  if (by === undefined) return;
  const failure = taken(`Not all of the ${presses} clicks reached the element`, by, 0);
  failure.dispatched = "unknown";
  throw failure;
}

/** What received one of the presses in place of the element. */
async function pressed(
  locator: Locator,
  presses: number,
  action: Action,
  press: () => Promise<void>,
): Promise<string | undefined> {
  await askElement(locator, "expectPresses", [presses], action.limits);
  return takenBy(action, press);
}

const taken = (what: string, by: string, ms: number): DeviceError =>
  new DeviceError(
    "ELEMENT_NOT_ACTIONABLE",
    `${what}: ${by} received the press${ms > 0 ? `, also after ${Math.round(ms)} ms` : ""}. Close or act on it first.`,
    { reason: `covered by ${by}` },
  );

// What follows runs in the page.

/** Playwright counts a position from inside of the border. */
function borderOf(element: Element): Place {
  return { x: element.clientLeft, y: element.clientTop };
}
