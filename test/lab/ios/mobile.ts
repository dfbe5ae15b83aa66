import { z } from "zod";
import { parsed, WireFailure } from "../webdriver/wire.ts";
import { appCommands } from "./appCommands.ts";
import { pixelsPerPoint } from "./pictures.ts";
import type { IosSession } from "./session.ts";

type Work = (session: IosSession, given: unknown) => unknown;

const press = z.object({ name: z.string(), durationSeconds: z.number().optional() });
const place = z.object({ latitude: z.number(), longitude: z.number() });

/** Buttons by their names, with the codes of the laboratory's keys. */
const phoneButtons: Readonly<Record<string, number>> = { home: 3, volumeup: 24, volumedown: 25 };
const tvButtons: Readonly<Record<string, number>> = {
  ...{ up: 19, down: 20, left: 21, right: 22, select: 23, menu: 4, home: 3, playpause: 85 },
};
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
  hideKeyboard: ({ ui }) => {
    if (!ui.keyboardShown())
      throw new WireFailure("invalid element state", "Did not know how to dismiss the keyboard");
    ui.key(4);
  },
  deviceScreenInfo: ({ ui }) => ({
    statusBarSize: { width: ui.space().width, height: 24 },
    scale: ui.isTv ? 1 : pixelsPerPoint,
    screenSize: { width: ui.space().width, height: ui.space().height },
  }),
  setSimulatedLocation: (session, given) => {
    session.location = parsed(place, given);
  },
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
};
