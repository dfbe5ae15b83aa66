import { z } from "zod";
import { type Command, type ControllerContext, defineCommand } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { sendInput } from "../dispatch.ts";
import type { PortableKey } from "../elements/keys.ts";
import { hasTarget } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { type DriverController, defineFactory, nowhere } from "../factory.ts";
import { ConnectedDevice } from "../phones/connectedDevice.ts";
import { portable } from "../portable.ts";
import type { ControllerFacts, ControllerStatus, Moment } from "../ports.ts";
import { findProgram } from "../programs/run.ts";
import { pause } from "../waiting/deadlines.ts";
import { type KeySender, remoteCommands } from "./commands.ts";
import { askXdotool, installXdotool, Xdotool } from "./xdotool.ts";

const digits = Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [`${digit}`, `${digit}`]));

/** Names of X11 (keysymdef.h, XF86keysym.h), as the keyboards of TV software send them. */
const keySymbols = {
  UP: "Up",
  DOWN: "Down",
  LEFT: "Left",
  RIGHT: "Right",
  OK: "Return",
  BACK: "BackSpace",
  HOME: "XF86HomePage",
  MENU: "Menu",
  EXIT: "Escape",
  INFO: "i",
  GUIDE: "e",
  SEARCH: "XF86Search",
  POWER: "XF86PowerOff",
  PLAY: "XF86AudioPlay",
  PAUSE: "XF86AudioPause",
  PLAY_PAUSE: "space",
  STOP: "XF86AudioStop",
  REWIND: "XF86AudioRewind",
  FAST_FORWARD: "XF86AudioForward",
  NEXT: "XF86AudioNext",
  PREVIOUS: "XF86AudioPrev",
  CHANNEL_UP: "Page_Up",
  CHANNEL_DOWN: "Page_Down",
  VOLUME_UP: "XF86AudioRaiseVolume",
  VOLUME_DOWN: "XF86AudioLowerVolume",
  MUTE: "XF86AudioMute",
  ENTER: "Return",
  TAB: "Tab",
  SPACE: "space",
  ESCAPE: "Escape",
  BACKSPACE: "BackSpace",
  DELETE: "Delete",
  END: "End",
  PAGE_UP: "Page_Up",
  PAGE_DOWN: "Page_Down",
} as const satisfies Partial<Record<PortableKey, string>>;

const settings = z.strictObject({
  display: z
    .string()
    .regex(/^:\d{1,5}(\.\d)?$/, 'a display of this machine, such as ":77"')
    .describe('The X11 display on which the device is shown, such as ":77". Keys go there by xdotool.'),
  window: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("A pattern of a window's title: it gets the keyboard focus when the remote connects."),
  keys: z
    .record(z.string().regex(/^[A-Z0-9_]{1,40}$/), z.string().regex(/^[A-Za-z0-9_]+(\+[A-Za-z0-9_]+)*$/))
    .default({})
    .describe(
      "Keys by name as xdotool calls them, such as RED: F5 or GUIDE: ctrl+g; added to the usual ones.",
    ),
});
type X11Settings = z.output<typeof settings>;

/** The keyboard of an X11 display. */
class X11Keyboard extends ConnectedDevice implements KeySender {
  readonly keys: ReadonlyMap<string, string>;
  readonly #settings: X11Settings;
  #xdotool: Xdotool | undefined;
  #screen: ControllerFacts["screen"];
  #lost: string | undefined;

  constructor(given: X11Settings) {
    super();
    this.#settings = given;
    this.keys = new Map(Object.entries({ ...keySymbols, ...digits, ...given.keys }));
  }

  send(key: string, signal: AbortSignal): Promise<Moment> {
    return this.#run([`key --delay 0 ${this.keys.get(key)}`], signal);
  }

  /** The key goes up also where `signal` aborts. */
  async hold(key: string, ms: number, signal: AbortSignal): Promise<Moment> {
    const symbol = this.keys.get(key);
    await this.#run([`keydown ${symbol}`], signal);
    let sentAt: Moment = 0;
    try {
      await pause(ms, signal);
    } finally {
      sentAt = await this.#run([`keyup ${symbol}`], new AbortController().signal);
    }
    return sentAt;
  }

  /** On the standard input of xdotool, where no list of processes shows it. */
  async type(text: string, signal: AbortSignal): Promise<Moment> {
    await askXdotool(this.#settings.display, ["type", "--delay", "12", "--file", "-"], {
      input: text,
      signal,
    });
    return performance.now();
  }

  isAlive(): boolean {
    return this.#xdotool?.isRunning() ?? false;
  }

  status(): ControllerStatus {
    if (this.#lost === undefined) return { state: "online" };
    const fix = `Start what shows the device on ${this.#settings.display}, or correct controllers.x11.display`;
    return { state: "offline", reason: this.#lost, fix };
  }

  factsForAll(): ControllerFacts {
    return this.isAlive() && this.#screen ? { screen: this.#screen } : {};
  }

  protected async connect(signal: AbortSignal): Promise<void> {
    const { display, window } = this.#settings;
    await this.disconnect();
    try {
      const size = await askXdotool(display, ["getdisplaygeometry"], { signal });
      const [width = 0, height = 0] = size.split(" ").map(Number);
      this.#screen = { width, height };
      if (window !== undefined) await focusOn(display, window, signal);
      signal.throwIfAborted();
      this.#xdotool = new Xdotool(display, () => {
        this.#lost = `the display ${display} has ended`;
        this.reportStatus();
      });
      await this.ask(signal);
      this.#lost = undefined;
    } catch (error) {
      await this.disconnect();
      if (error instanceof DeviceError) this.#lost = error.message;
      throw error;
    }
  }

  protected async disconnect(): Promise<void> {
    const before = this.#xdotool;
    this.#xdotool = undefined;
    await before?.end();
  }

  protected ask(signal: AbortSignal): Promise<Moment> {
    return this.#run([], signal);
  }

  async #run(commands: readonly string[], signal: AbortSignal): Promise<Moment> {
    if (this.#xdotool) return this.#xdotool.run(commands, signal);
    throw new DeviceError("DEVICE_OFFLINE", "The remote is closed. Take control of the device again.");
  }
}

async function focusOn(display: string, window: string, signal: AbortSignal): Promise<void> {
  try {
    await askXdotool(display, ["search", "--onlyvisible", "--name", window, "windowfocus"], { signal });
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "DEVICE_OFFLINE") throw error;
    const message = `No window on ${display} has a title like ${JSON.stringify(window)}. Start the app, or correct controllers.x11.window.`;
    throw new DeviceError("DEVICE_OFFLINE", message);
  }
}

const typeText = (keyboard: X11Keyboard): Command =>
  defineCommand({
    ...portable.type_text,
    async run({ text, timeout_ms: _, ...target }, signal) {
      if (hasTarget(target))
        throw new DeviceError(
          "COMMAND_UNSUITABLE",
          "A keyboard types where the focus is and finds no element. Leave out ref and selector.",
        );
      const sentAt = await sendInput(() => keyboard.type(text, signal));
      return { message: "typed where the focus is", sentAt };
    },
  });

function controllers(given: X11Settings, context: ControllerContext): DriverController[] {
  const keyboard = new X11Keyboard(given);
  const commands = [...remoteCommands(keyboard, context), typeText(keyboard)];
  return [{ kind: "remote", commands, checks: [], ...keyboard.life() }];
}

/** Keys of a device that is shown on an X11 display: TV software on this machine, or a virtual one. */
export const x11Factory = defineFactory({
  name: "x11",
  kinds: ["remote"],
  settings,
  offers: () => controllers(settings.parse({ display: ":0" }), nowhere),
  create: controllers,
  claims: ({ display }) => [`display:${display}`],
  diagnose: diagnoseX11,
});

async function diagnoseX11(
  { display }: X11Settings,
  { env, signal }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const what = `X11 display ${display}`;
  if (findProgram("xdotool", { ...env }) === undefined)
    return [{ what: "xdotool", status: "missing", detail: "not found", fix: installXdotool }];
  try {
    const size = await askXdotool(display, ["getdisplaygeometry"], { signal, env: { ...env } });
    return [{ what, status: "ok", detail: `${size.replace(" ", " x ")} pixels` }];
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [
      { what, status: "missing", detail, fix: "Start the display, or correct controllers.x11.display" },
    ];
  }
}
