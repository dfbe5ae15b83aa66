import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, targetShape, timeoutShape } from "../../elements/target.ts";
import { portable } from "../../portable.ts";
import type { Actions } from "../acting/action.ts";
import { runApart } from "../page/askAgent.ts";
import { elementCommand, shortCommand } from "./elementCommand.ts";
import { scrollToElement } from "./scrollTo.ts";

export function viewCommands(actions: Actions): Command[] {
  return [
    scroll(actions),
    scrollToElement(actions),
    elementHighlight(actions),
    setViewportSize(actions),
    emulateMedia(actions),
  ];
}

function elementHighlight(actions: Actions): Command {
  return elementCommand(actions, {
    name: "element_highlight",
    description:
      "Frames the element in the live picture and in screenshots for so many seconds. The page itself stays as it is.",
    input: z.strictObject({
      ...targetShape,
      seconds: z.number().gt(0).max(600).default(10),
      ...timeoutShape,
    }),
    done: "the live picture frames",
    async run(locator, { seconds }, { limits }) {
      await locator.scrollIntoViewIfNeeded(limits);
      actions.session.memory.highlight(await locator.elementHandle(limits), seconds * 1_000);
    },
  });
}

function scroll(actions: Actions): Command {
  const amount = z.number().int().min(1).max(1_000_000).optional();
  return defineCommand({
    ...portable.scroll,
    input: portable.scroll.input.extend({
      amount: amount.describe("Pixels; most of the visible part if absent."),
    }),
    async run(given, signal) {
      let at: ScrollPosition | undefined;
      const options = {
        command: "scroll",
        timeoutMs: given.timeout_ms,
        signal,
        done: `scrolled ${given.direction}`,
        awaitsPage: true,
      };
      const axis: Axis = given.direction === "left" || given.direction === "right" ? "x" : "y";
      const toEnd = given.direction === "top" || given.direction === "bottom";
      const amount = toEnd ? Number.MAX_SAFE_INTEGER : (given.amount ?? null);
      const back = given.direction === "up" || given.direction === "left" || given.direction === "top";
      const result = await actions.run(options, async (action) => {
        const locator = hasTarget(given) ? await action.locate(given) : action.page.locator("html");
        const how = { axis, fromCenter: !hasTarget(given), amount, back };
        at = await runApart(locator, scrollSchema, scrollFrom, how, action.limits);
      });
      const end = at?.at_end === true ? "; that is the end" : "";
      return {
        message: `${result.message} to ${at?.x}, ${at?.y}${end}`,
        ...(at === undefined ? {} : { data: at }),
      };
    },
  });
}

function setViewportSize(actions: Actions): Command {
  const { session } = actions;
  const side = z.number().int().min(100).max(10_000);
  return shortCommand(actions, {
    name: "set_viewport_size",
    description: "Sets the size of the page in CSS pixels, for all tabs until a fresh start.",
    input: z.strictObject({ width: side, height: side }),
    done: ({ width, height }) => `the page is ${width} x ${height}`,
    run: (size) =>
      session.forEachTab("viewport", {
        apply: (page) => page.setViewportSize(size),
        undo: (page) => page.setViewportSize(session.settings.viewport),
      }),
  });
}

const asTheBrowserHas = {
  media: null,
  colorScheme: null,
  reducedMotion: null,
  contrast: null,
  forcedColors: null,
};

function emulateMedia(actions: Actions): Command {
  return shortCommand(actions, {
    name: "emulate_media",
    description: "Sets the media features that the page's style sheets see; those left out are reset.",
    input: z.strictObject({
      media: z.enum(["screen", "print"]).optional(),
      color_scheme: z.enum(["light", "dark", "no-preference"]).optional(),
      reduced_motion: z.enum(["reduce", "no-preference"]).optional(),
      contrast: z.enum(["more", "no-preference"]).optional(),
      forced_colors: z.enum(["active", "none"]).optional(),
    }),
    done: "media set",
    run: ({ media = null, color_scheme, reduced_motion, contrast = null, forced_colors }) => {
      const colorScheme = color_scheme ?? null;
      const reducedMotion = reduced_motion ?? null;
      const forcedColors = forced_colors ?? null;
      return actions.session.forEachTab("media", {
        apply: (page) => page.emulateMedia({ media, colorScheme, reducedMotion, contrast, forcedColors }),
        undo: (page) => page.emulateMedia(asTheBrowserHas),
      });
    },
  });
}

const scrollSchema = z.object({ x: z.number(), y: z.number(), at_end: z.boolean() });
type ScrollPosition = z.output<typeof scrollSchema>;
type Axis = "x" | "y";

// What follows runs in the page.

/** Without an element the middle of the page decides which area scrolls, as it does for a wheel. */
/** `amount` in pixels, signed; a null one is most of the visible part, forwards or (`back`) backwards. */
function scrollFrom(
  element: Element,
  {
    axis,
    fromCenter,
    amount,
    back,
  }: { axis: Axis; fromCenter: boolean; amount: number | null; back: boolean },
): ScrollPosition {
  const { ownerDocument } = element;
  const scrolls = (one: Element): boolean => {
    const style = getComputedStyle(one);
    const overflow = axis === "x" ? style.overflowX : style.overflowY;
    const room = axis === "x" ? one.scrollWidth - one.clientWidth : one.scrollHeight - one.clientHeight;
    return room > 0 && /auto|scroll|overlay/.test(overflow);
  };
  let one = fromCenter ? ownerDocument.elementFromPoint(innerWidth / 2, innerHeight / 2) : element;
  while (one !== null && !scrolls(one)) one = one.parentElement;
  const area = one ?? ownerDocument.scrollingElement ?? element;
  const visible = axis === "x" ? area.clientWidth : area.clientHeight;
  const whole = axis === "x" ? area.scrollWidth : area.scrollHeight;
  const distance = Math.min(amount ?? Math.round(visible * 0.8), whole);
  area.scrollBy({ [axis === "x" ? "left" : "top"]: back ? -distance : distance, behavior: "instant" });
  const position = axis === "x" ? area.scrollLeft : area.scrollTop;
  return {
    x: Math.round(area.scrollLeft),
    y: Math.round(area.scrollTop),
    at_end: back ? position <= 0 : Math.ceil(position) >= whole - visible - 1,
  };
}
