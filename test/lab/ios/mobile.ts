import type { Rect } from "@labwright/controllers";
import { z } from "zod";
import type { LabUi } from "../android/labUi.ts";
import { alertButtons, answerAlert } from "./alerts.ts";
import { appCommands } from "./appCommands.ts";
import { pixelsPerPoint } from "./pictures.ts";
import type { IosSession } from "./session.ts";
import { parsed, WireFailure } from "./wire.ts";

type Work = (session: IosSession, given: unknown) => unknown;

const direction = z.enum(["up", "down", "left", "right"]);
const element = z.string().optional();
const swipeBody = z.object({ elementId: element, direction });
const scrollBody = swipeBody.extend({ distance: z.number().optional() });
const point = z.object({ elementId: element, x: z.number(), y: z.number() });
const held = point.extend({ duration: z.number().optional() });
const drag = z.object({
  ...{ duration: z.number(), fromX: z.number(), fromY: z.number(), toX: z.number(), toY: z.number() },
});
const alertBody = z.object({
  action: z.enum(["accept", "dismiss", "getButtons"]),
  buttonLabel: z.string().optional(),
});
const press = z.object({ name: z.string(), durationSeconds: z.number().optional() });
const place = z.object({ latitude: z.number(), longitude: z.number() });

/** Buttons by their names, with the codes of the laboratory's keys. */
const phoneButtons: Readonly<Record<string, number>> = { home: 3, volumeup: 24, volumedown: 25 };
const tvButtons: Readonly<Record<string, number>> = {
  ...{ up: 19, down: 20, left: 21, right: 22, select: 23, menu: 4, home: 3, playpause: 85 },
};
const swipeMs = 100;
const slowMs = 60_000;

export function mobile(session: IosSession, script: string, given: unknown): unknown {
  const work = commands[script.replace(/^mobile:\s*/, "")];
  if (script.startsWith("mobile:") && work) return work(session, given) ?? null;
  throw new WireFailure(
    "unknown command",
    `Unknown mobile command "${script}". Only ${Object.keys(commands).join(", ")} commands are supported.`,
  );
}

const commands: Readonly<Record<string, Work>> = {
  ...appCommands,
  pressButton: ({ ui }, given) => {
    const { name, durationSeconds = 0 } = parsed(press, given);
    const buttons = ui.isTv ? tvButtons : phoneButtons;
    const code = buttons[name.toLowerCase()];
    if (code === undefined)
      throw new WireFailure(
        "invalid argument",
        `The button '${name}' is not supported. The device under test only supports the following buttons: ${Object.keys(buttons).join(", ")}`,
      );
    ui.key(code, { long: durationSeconds >= 0.5 });
  },
  tap: ({ ui }, given) => ui.tap(parsed(point, given)),
  touchAndHold: ({ ui }, given) => ui.longPress(parsed(held, given)),
  doubleTap: ({ ui }, given) => {
    const at = parsed(point, given);
    ui.tap(at);
    ui.tap(at);
  },
  dragFromToForDuration: ({ ui }, given) => {
    const { fromX, fromY, toX, toY } = parsed(drag, given);
    ui.drag({ x: fromX, y: fromY }, { x: toX, y: toY });
  },
  swipe: (session, given) => {
    const body = parsed(swipeBody, given);
    move(session.ui, areaOf(session, body.elementId), body.direction, swipeMs);
  },
  /** The content goes against the way that is named. */
  scroll: (session, given) => {
    const body = parsed(scrollBody, given);
    const opposite = { up: "down", down: "up", left: "right", right: "left" } as const;
    move(session.ui, areaOf(session, body.elementId), opposite[body.direction], slowMs);
  },
  alert: ({ ui }, given) => {
    const { action, buttonLabel } = parsed(alertBody, given);
    return action === "getButtons" ? alertButtons(ui) : answerAlert(ui, action === "accept", buttonLabel);
  },
  hideKeyboard: ({ ui }) => {
    if (!ui.keyboardShown())
      throw new WireFailure("invalid element state", "Did not know how to dismiss the keyboard");
    ui.key(4);
  },
  isKeyboardShown: ({ ui }) => ui.keyboardShown(),
  deviceScreenInfo: ({ ui }) => ({
    statusBarSize: { width: ui.space().width, height: 24 },
    scale: ui.isTv ? 1 : pixelsPerPoint,
    screenSize: { width: ui.space().width, height: ui.space().height },
  }),
  setSimulatedLocation: (session, given) => {
    session.location = parsed(place, given);
  },
  getSimulatedLocation: ({ location }) => location ?? { latitude: null, longitude: null },
  resetSimulatedLocation: (session) => {
    session.location = undefined;
  },
  /** A TV has no battery: UIDevice says -1 and that it does not know. */
  batteryInfo: ({ ui }) => ({
    ...(ui.isTv ? { level: -1, state: 0 } : { level: 0.8, state: 2 }),
    advanced: {},
  }),
  /** In base64, as the driver has it. */
  setClipboard: ({ ui }, given) => {
    ui.clipboard = Buffer.from(parsed(z.object({ content: z.string() }), given).content, "base64").toString();
  },
  getClipboard: ({ ui }) => Buffer.from(ui.clipboard).toString("base64"),
  setPasteboard: ({ ui }, given) => {
    ui.clipboard = parsed(z.object({ content: z.string() }), given).content;
  },
  getPasteboard: ({ ui }) => ui.clipboard,
};

function areaOf(session: IosSession, id: string | undefined): Rect {
  const { width, height } = session.ui.space();
  return id === undefined ? { x: 0, y: 0, width, height } : session.node(id).bounds;
}

/** A finger that goes the way, over the middle of an area. */
function move(ui: LabUi, { x, y, width, height }: Rect, way: z.output<typeof direction>, ms: number): void {
  const at = (across: number, down: number) => ({
    x: Math.round(x + width * across),
    y: Math.round(y + height * down),
  });
  const ends = {
    up: [at(0.5, 0.8), at(0.5, 0.2)],
    down: [at(0.5, 0.2), at(0.5, 0.8)],
    left: [at(0.8, 0.5), at(0.2, 0.5)],
    right: [at(0.2, 0.5), at(0.8, 0.5)],
  } as const;
  ui.swipe(...ends[way], ms);
}
