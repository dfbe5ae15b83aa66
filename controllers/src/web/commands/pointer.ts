import type { Locator, Request } from "playwright-core";
import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { pause, untilAborted } from "../../waiting/deadlines.ts";
import { type Acting, act } from "../acting/act.ts";
import { clickPlace } from "../acting/clickPlace.ts";
import { inOneFrame, locate } from "../acting/locate.ts";
import type { DrivenSession } from "../browser/session.ts";
import { askAgent, askElement, askOverDevTools, runApart } from "../page/askAgent.ts";
import { askFrames } from "../page/elementsInFrames.ts";
import { isMainDocument } from "../page/requests.ts";
import { actionOptions, documentShape, elementCommand } from "./elementCommand.ts";

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
      input: portable.click_element.input.extend(documentShape),
      done: "clicked",
      runIfReady: (input, acting) => clickIfReady(session, input, acting),
      async run(locator, _, acting) {
        const position = await clickPlace(locator, actionOptions(acting));
        await pressOnce(locator, acting, () =>
          locator.click({ ...actionOptions(acting), ...(position && { position }) }),
        );
      },
    }),
    elementCommand(session, {
      ...portable.double_click,
      input: portable.double_click.input.extend(documentShape),
      done: "double-clicked",
      run: (locator, _, acting) =>
        pressTimes(locator, 2, acting, () => locator.dblclick(actionOptions(acting))),
    }),
    elementCommand(session, {
      name: "triple_click",
      description: "Clicks three times, which selects a line or paragraph.",
      input: targetInput,
      done: "triple-clicked",
      run: (locator, _, acting) =>
        pressTimes(locator, 3, acting, () => locator.click({ ...actionOptions(acting), clickCount: 3 })),
    }),
    elementCommand(session, {
      name: "right_click",
      description: "Clicks an element with the right button, which opens its context menu.",
      input: targetInput,
      done: "right-clicked",
      run: (locator, _, acting) =>
        pressOnce(locator, acting, () => locator.click({ ...actionOptions(acting), button: "right" })),
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
      await dragFrom(locator, acting, from, async () => {
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
    async run(locator, { x, y, by }, acting) {
      const from = await middleOf(locator, acting, by);
      await dragFrom(locator, acting, from, async () => ({ x: from.x + x, y: from.y + y }));
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

/** {@link dragTo} from a place on an element. Throws ELEMENT_NOT_ACTIONABLE where something else was held. */
async function dragFrom(
  locator: Locator,
  acting: Acting,
  from: Place,
  place: () => Promise<Place>,
): Promise<void> {
  const by = await pressed(locator, 1, acting, () => dragTo(acting, from, place));
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
export async function middleOf(locator: Locator, acting: Acting, by: Handle = "middle"): Promise<Place> {
  await locator.scrollIntoViewIfNeeded(actionOptions(acting));
  const { width, height } = await boxOf(locator, acting);
  const along = (length: number, low: boolean, high: boolean) =>
    low ? Math.min(INSET, length / 2) : high ? Math.max(length - INSET, length / 2) : length / 2;
  const position = {
    x: along(width, by.endsWith("left"), by.endsWith("right")),
    y: along(height, by.startsWith("top"), by.startsWith("bottom")),
  };
  const border = await runApart(locator, borderOf, undefined, actionOptions(acting));
  await locator.hover({
    ...actionOptions(acting),
    position: { x: position.x - border.x, y: position.y - border.y },
  });
  const { x, y } = await boxOf(locator, acting);
  return { x: x + position.x, y: y + position.y };
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
      z.strictObject({ ...point, button, ...documentShape }),
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
  const asked = askOverDevTools(place.frame, "clickPoint", [place.query]).catch(() => undefined);
  const point = await untilAborted(asked, signal);
  if (!point) return false;
  // What another element was about to receive did not reach the page: Playwright waits until the way is free.
  const by = await takenBy(acting, () => untilAborted(page.mouse.click(point.x, point.y), signal));
  return by === undefined;
}

/**
 * What received the press in place of the element. A press that opens a page reached its element. The document that is left
 * answers nothing more: Chromium asks it nothing from the request for the next one on.
 */
async function takenBy({ page, signal }: Acting, press: () => Promise<void>): Promise<string | undefined> {
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
async function pressOnce(locator: Locator, acting: Acting, press: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const by = await pressed(locator, 1, acting, press);
    if (by === undefined) return;
    if (acting.left() <= 2 * RETRY_MS)
      throw taken(`The element is there, but it is covered by ${by}`, by, performance.now() - startedAt);
    await pause(RETRY_MS, acting.signal);
  }
}

/** The same for several presses, of which the first may bring something in the way of the others: they are not tried again. */
async function pressTimes(
  locator: Locator,
  presses: number,
  acting: Acting,
  press: () => Promise<void>,
): Promise<void> {
  const by = await pressed(locator, presses, acting, press);
  if (by !== undefined) throw taken(`Not all of the ${presses} clicks reached the element`, by, 0);
}

/** What received one of the presses in place of the element. */
async function pressed(
  locator: Locator,
  presses: number,
  acting: Acting,
  press: () => Promise<void>,
): Promise<string | undefined> {
  await askElement(locator, "expectPresses", [presses], actionOptions(acting));
  return takenBy(acting, press);
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
