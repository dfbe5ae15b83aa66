import { setTimeout as pause } from "node:timers/promises";
import type { BetaToolsetCallContext } from "@anthropic-ai/sdk/helpers/beta/toolsets";
import { type Action, type DrivenScreen, refuse } from "./screen.ts";

export type Point = { x: number; y: number };
export const idOf = ({ toolUse }: BetaToolsetCallContext): string => toolUse?.id ?? "toolset";

const notchPixels = 100;
/** Of a touch screen's side, for a notch of a wheel. */
const notchShare = 0.1;
const mostShare = 0.6;
const longestWaitS = 30;

/** A click at a point of the picture. A finger has one button and clicks once. */
export function clickAt(
  screen: DrivenScreen,
  at: Point,
  how: { button: "left" | "right"; clicks: number },
): Action {
  const point = screen.point(at);
  if (screen.device.isWeb) return { command: "tap_x_y", params: { ...point, ...how } };
  if (how.button === "left" && how.clicks === 1) return { command: "tap", params: point };
  return refuse("INVALID_PARAMS: a point of this device can only be tapped once. Use left_click or key.");
}

export function dragBetween(screen: DrivenScreen, from: Point, to: Point): Action[] {
  const [start, end] = [screen.point(from), screen.point(to)];
  const ends = { from_x: start.x, from_y: start.y, to_x: end.x, to_y: end.y };
  if (!screen.device.isWeb) return [{ command: "drag", params: ends }];
  return [
    { command: "mouse_move", params: start },
    { command: "mouse_down" },
    { command: "mouse_move", params: end },
    { command: "mouse_up" },
  ];
}

const ways = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const;

/** So many notches of a wheel, or a finger that moves the other way. */
export function scrollAt(
  screen: DrivenScreen,
  at: Point,
  { way, notches }: { way: string; notches: number },
): Action[] {
  const [, [across, down]] =
    Object.entries(ways).find(([name]) => name === way) ??
    refuse("INVALID_PARAMS: scroll_direction is up, down, left or right.");
  const start = screen.point(at);
  if (screen.device.isWeb) {
    const pixels = notches * notchPixels;
    const params = { delta_x: across * pixels, delta_y: down * pixels };
    return [
      { command: "mouse_move", params: start },
      { command: "mouse_wheel", params },
    ];
  }
  const share = Math.min(mostShare, notches * notchShare);
  const end = screen.point(screen.moved(at, -across * share, -down * share));
  const params = { from_x: start.x, from_y: start.y, to_x: end.x, to_y: end.y };
  return [{ command: "swipe", params }];
}

/** As X11 has them; the server knows the others by their own names, and says the nearest of one that it does not. */
const keys: Readonly<Record<string, string>> = {
  ...{ up: "UP", down: "DOWN", left: "LEFT", right: "RIGHT", super: "cmd" },
};
const touchKeys: Readonly<Record<string, string>> = { RETURN: "ENTER" };

/** Keys, chords or several with spaces between them, each so many times. */
export function pressKeys({ device }: DrivenScreen, text: string, repeat = 1): Action[] {
  const own = (key: string) => keys[key.toLowerCase()] ?? key;
  const nameOf = (key: string) => {
    if (device.isWeb)
      return key
        .split(/\+(?!$)/)
        .map(own)
        .join("+");
    const name = key.toUpperCase();
    return touchKeys[name] ?? name;
  };
  const pressed = text.split(/\s+/).filter(Boolean);
  const press = pressed.map((key) => ({ command: "press_key", params: { key: nameOf(key), count: repeat } }));
  return press.length > 0 ? press : refuse("INVALID_PARAMS: text names the key to press, such as Enter.");
}

/** Held keys are not among the server's commands. */
export function withoutHeld(held: string | null | undefined): void {
  if (held) refuse("INVALID_PARAMS: no key can be held here while the mouse acts. Do it without, or by key.");
}

export async function waitFor(seconds: number, { signal }: BetaToolsetCallContext): Promise<void> {
  if (!(seconds >= 0 && seconds <= longestWaitS))
    refuse(`INVALID_PARAMS: duration is 0 to ${longestWaitS} seconds.`);
  await pause(seconds * 1_000, undefined, signal ? { signal } : {});
}
