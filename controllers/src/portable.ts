import { z } from "zod";
import type { Check, Command } from "./contract.ts";
import { matchSchema, matchWords } from "./elements/match.ts";
import { ofPresence, ofSubject } from "./elements/readings.ts";
import { stateWords } from "./elements/stateWords.ts";
import { targetShape, timeoutShape, waitMs } from "./elements/target.ts";
import { boundsIn, wantedIn } from "./elements/titles.ts";

type PortableCommand = Pick<Command, "name" | "description" | "effect" | "input">;
type PortableCheck = Pick<Check, "name" | "description" | "input" | "judges" | "title">;

type Input = Readonly<Record<string, unknown>>;

const LONGEST_TEXT = 100_000;
const onElement = z.strictObject({ ...targetShape, ...timeoutShape });
const ofElement = z.strictObject(targetShape);

/**
 * Where an app is found, one property for each kind of device. Other keys are ignored, so that the whole `app` of a
 * userinterface can be given.
 */
export const appShape = {
  url: z.string().max(2_000).optional(),
  package: z.string().max(200).optional(),
  activity: z.string().max(200).optional(),
  deep_link: z.string().max(2_000).optional(),
};
export type App = z.output<typeof app>;
const app = z
  .union([z.string().min(1).max(2_000), z.object(appShape)])
  .transform((given) => (typeof given === "string" ? appCalled(given) : given))
  .describe(
    "The app as this device finds it: url in a browser, package (activity, deep_link) elsewhere; {{app}} of the userinterface. A text is its url or its package.",
  );
/** `https://shop.example` has a scheme, `com.example.shop` has none. */
const appCalled = (name: string): z.output<z.ZodObject<typeof appShape>> =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(name) ? { url: name } : { package: name };
const onApp = z.strictObject({ app, timeout_ms: waitMs.default(30_000) });

/**
 * The commands and checks that every driver able to do the same thing offers alike, so that one test case runs on all of them.
 * A driver spreads an entry and adds what it does: `defineCommand({ ...portable.click_element, run })`, `defineCheck({
 * ...portable.element_text, read })`. It takes every parameter that is listed here, with the same meaning. It may add
 * parameters of its own with `input.extend`, and sentences behind the description. A parameter of its own is optional: a
 * test case that gives only the parameters listed here runs on every driver, and one that gives others does not.
 *
 * `handle_dialog` answers a dialog that is open; where none is, the next one that opens.
 */
export const portable = {
  click_element: {
    name: "click_element",
    description: "Clicks an element; waits until it can be clicked and until the screen it opens is usable.",
    effect: "write",
    input: onElement,
  },
  double_click: {
    name: "double_click",
    description: "Double-clicks an element.",
    effect: "write",
    input: onElement,
  },
  input_text: {
    name: "input_text",
    description: "Replaces the value of a field by a text.",
    effect: "write",
    input: onElement.extend({ text: z.string().max(LONGEST_TEXT) }),
  },
  type_text: {
    name: "type_text",
    description:
      "Types a text key by key behind what is there: in an element, or without one where the focus is.",
    effect: "write",
    input: onElement.extend({ text: z.string().min(1).max(LONGEST_TEXT) }),
  },
  press_key: {
    name: "press_key",
    description: "Presses a key, once or count times, where the focus is.",
    effect: "write",
    input: z.strictObject({
      key: z.string().min(1).max(60).describe("UP, DOWN, LEFT, RIGHT, OK, BACK, HOME, MENU, PLAY_PAUSE ..."),
      count: z.int().min(1).max(1_000).default(1).describe("How often."),
    }),
  },
  scroll: {
    name: "scroll",
    description: "Scrolls the screen, or the scrollable area that an element is in.",
    effect: "write",
    input: onElement.extend({
      direction: z.enum(["up", "down", "left", "right", "top", "bottom"]).default("down"),
    }),
  },
  scroll_to_element: {
    name: "scroll_to_element",
    description: "Scrolls until an element is visible, through lists to both their ends.",
    effect: "write",
    input: onElement,
  },
  wait_for: {
    name: "wait_for",
    description: "Waits until an element or text appears or goes.",
    effect: "read",
    input: z.strictObject({
      ...targetShape,
      state: z
        .enum(["visible", "hidden"])
        .default("visible")
        .describe("Of the element; hidden also when it is gone."),
      text: z.string().min(1).max(1000).optional().describe("Text that the screen shows."),
      text_gone: z.string().min(1).max(1000).optional().describe("Text that the screen no longer shows."),
      timeout_ms: waitMs.default(10_000),
    }),
  },
  handle_dialog: {
    name: "handle_dialog",
    description: "Sets the answer to the next dialog; call it before the action that opens one.",
    effect: "write",
    input: z.strictObject({
      accept: z.boolean(),
      prompt_text: z.string().max(10_000).optional().describe("What a prompt is answered with."),
    }),
  },
  open_app: {
    name: "open_app",
    description: "Opens an app, or brings it to the front, and waits until it is usable.",
    effect: "write",
    input: onApp,
  },
  close_app: {
    name: "close_app",
    description: "Closes an app; does nothing if it is not open.",
    effect: "write",
    input: onApp,
  },

  element_exists: {
    name: "element_exists",
    description: "The element is there, shown or not",
    input: ofElement,
    judges: ofPresence,
    title: (element: string) => `${element} exists`,
  },
  element_visible: {
    name: "element_visible",
    description: "The element can be seen",
    input: ofElement,
    judges: ofPresence,
    title: (element: string) => `${element} is visible`,
  },
  element_hidden: {
    name: "element_hidden",
    description: "The element cannot be seen, or is not there",
    input: ofElement,
    judges: ofPresence,
    title: (element: string) => `${element} is hidden`,
  },
  element_text: {
    name: "element_text",
    description: `The element's visible text, or its name where it has no text; ${matchWords}`,
    input: ofElement.extend({ text: z.string().max(LONGEST_TEXT), match: matchSchema.default("same") }),
    judges: ofSubject,
    title: (element: string, input: Input) => `${element} shows ${wantedIn(input, "text")}`,
  },
  element_value: {
    name: "element_value",
    description: `What the field holds; a password reads as dots; ${matchWords}`,
    input: ofElement.extend({ value: z.string().max(LONGEST_TEXT), match: matchSchema.default("same") }),
    judges: ofSubject,
    title: (element: string, input: Input) => `${element} holds ${wantedIn(input, "value")}`,
  },
  element_checked: {
    name: "element_checked",
    description: "The checkbox, radio button or switch is on",
    input: ofElement,
    judges: ofSubject,
    title: (element: string) => `${element} is checked`,
  },
  element_enabled: {
    name: "element_enabled",
    description: "The element is visible and not disabled",
    input: ofElement,
    judges: ofSubject,
    title: (element: string) => `${element} is enabled`,
  },
  element_focused: {
    name: "element_focused",
    description: "The element has the focus",
    input: ofElement,
    judges: ofSubject,
    title: (element: string) => `${element} has the focus`,
  },
  element_state: {
    name: "element_state",
    description:
      "The state of the element, as a dump shows it: a tab is selected, a toggle button pressed, a menu expanded",
    input: ofElement.extend({ state: z.enum(stateWords) }),
    judges: ofSubject,
    title: (element: string, { state }: Input) => `${element} is ${String(state)}`,
  },
  element_count: {
    name: "element_count",
    description: "So many elements match; visible ones are counted, hidden ones only where all are hidden",
    input: z
      .strictObject({
        selector: targetShape.selector.unwrap(),
        count: z.int().min(0).optional(),
        min: z.int().min(0).optional(),
        max: z.int().min(0).optional(),
      })
      .refine(
        (input) => input.count !== undefined || input.min !== undefined || input.max !== undefined,
        "give count, min or max",
      ),
    judges: ofPresence,
    title: (element: string, input: Input) =>
      `${input.count === undefined ? boundsIn(input) : String(input.count)} of ${element}`,
  },
  text_visible: {
    name: "text_visible",
    description: `A text can be read on the screen; ${matchWords}`,
    input: z.strictObject({
      text: z.string().min(1).max(10_000),
      match: matchSchema.default("words"),
    }),
    judges: ofPresence,
    title: (_: string, input: Input) => `the screen shows ${wantedIn(input, "text")}`,
  },
  app_shown: {
    name: "app_shown",
    description: "The app is in front",
    input: z.strictObject({ app }),
    judges: ofPresence,
    title: () => "the app is in front",
  },
} as const satisfies Readonly<Record<string, PortableCommand | PortableCheck>>;
