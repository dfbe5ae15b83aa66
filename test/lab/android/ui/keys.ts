import type { Rect } from "@labwright/controllers";
import { type Direction, nextFocus } from "./focusSearch.ts";
import { everyPlaced, overlap, type Placed } from "./layout.ts";
import { isFocusable } from "./nodes.ts";
import type { KeyStage, Stage } from "./stage.ts";
import type { Surface } from "./surfaces.ts";
import type { View } from "./views.ts";

const keyCodes = {
  HOME: 3,
  BACK: 4,
  DPAD_UP: 19,
  DPAD_DOWN: 20,
  DPAD_LEFT: 21,
  DPAD_RIGHT: 22,
  DPAD_CENTER: 23,
  POWER: 26,
  TAB: 61,
  SPACE: 62,
  ENTER: 66,
  DEL: 67,
  NOTIFICATION: 83,
  MEDIA_PLAY_PAUSE: 85,
  MEDIA_STOP: 86,
  MEDIA_REWIND: 89,
  MEDIA_FAST_FORWARD: 90,
  ESCAPE: 111,
  MEDIA_PLAY: 126,
  MEDIA_PAUSE: 127,
  NUMPAD_ENTER: 160,
  APP_SWITCH: 187,
  SLEEP: 223,
  WAKEUP: 224,
};

const directions = new Map<number, Direction>([
  [keyCodes.DPAD_UP, "up"],
  [keyCodes.DPAD_DOWN, "down"],
  [keyCodes.DPAD_LEFT, "left"],
  [keyCodes.DPAD_RIGHT, "right"],
]);
const confirming = [keyCodes.DPAD_CENTER, keyCodes.ENTER, keyCodes.SPACE, keyCodes.NUMPAD_ENTER];

const shift = 1;
const signs = new Map<number, string>([
  ...[...",."].map((sign, index): [number, string] => [55 + index, sign]),
  ...[..."`-=[]\\;'/@"].map((sign, index): [number, string] => [68 + index, sign]),
  [keyCodes.SPACE, " "],
  [81, "+"],
  [17, "*"],
  [18, "#"],
]);

const skipMs = 10_000;
const deviceKeys = new Map<number, (stage: KeyStage) => void>([
  [keyCodes.HOME, (stage) => stage.home()],
  [keyCodes.BACK, (stage) => stage.back()],
  [keyCodes.APP_SWITCH, (stage) => stage.recent()],
  [keyCodes.NOTIFICATION, (stage) => stage.notifications(true)],
  [keyCodes.SLEEP, (stage) => stage.power(false)],
  [keyCodes.ESCAPE, (stage) => void (stage.endTyping() || stage.back())],
  [keyCodes.MEDIA_PLAY_PAUSE, (stage) => stage.control({ do: "play or pause" })],
  [keyCodes.MEDIA_PLAY, (stage) => stage.control({ do: "play" })],
  [keyCodes.MEDIA_PAUSE, (stage) => stage.control({ do: "pause" })],
  [keyCodes.MEDIA_STOP, (stage) => stage.control({ do: "stop" })],
  [keyCodes.MEDIA_REWIND, (stage) => stage.control({ do: "seek", byMs: -skipMs })],
  [keyCodes.MEDIA_FAST_FORWARD, (stage) => stage.control({ do: "seek", byMs: skipMs })],
]);

export function pressKey(
  stage: KeyStage,
  code: number,
  { isOn, long = false, meta = 0 }: { isOn: boolean; long?: boolean; meta?: number },
): void {
  if (code === keyCodes.POWER) stage.power();
  else if (code === keyCodes.WAKEUP) stage.power(true);
  if (!isOn) return;
  const ofDevice = deviceKeys.get(code);
  if (ofDevice) ofDevice(stage);
  else if (!writes(stage, code, meta) && !(code === keyCodes.ENTER && stage.endTyping())) {
    moveOrConfirm(stage, code, long);
  }
}

function writes(stage: KeyStage, code: number, meta: number): boolean {
  if (code === keyCodes.DEL) return stage.write((text) => [...text].slice(0, -1).join(""));
  const written = textOf(code, meta);
  return written !== undefined && stage.write((text) => text + written);
}

/** What a key writes; undefined where it writes nothing. */
function textOf(code: number, meta = 0): string | undefined {
  if (code >= 7 && code <= 16) return String(code - 7);
  if (code >= 29 && code <= 54) {
    const letter = String.fromCharCode("a".charCodeAt(0) + code - 29);
    return meta & shift ? letter.toUpperCase() : letter;
  }
  return signs.get(code);
}

function moveOrConfirm(stage: Stage, code: number, isLong: boolean): void {
  const surface = stage.activeSurface();
  const candidates = focusables(surface);
  const focused = candidates.find(({ key }) => key === surface.state.focus);
  if (confirming.includes(code)) {
    if (focused) confirm(stage, surface, focused.view, isLong);
    return;
  }
  const target = targetOf(code, candidates, focused);
  if (target) stage.focus(surface, target, { isTyping: false });
}

function targetOf(
  code: number,
  candidates: readonly Placed[],
  focused: Placed | undefined,
): Placed | undefined {
  const direction = directions.get(code);
  if (!direction && code !== keyCodes.TAB) return undefined;
  if (!focused) return candidates.find(({ visible }) => visible);
  if (direction) {
    const reachable = candidates.filter((candidate) => isReachable(candidate, focused, direction));
    return nextFocus(focused.rect, reachable, direction);
  }
  return candidates[(candidates.indexOf(focused) + 1) % candidates.length];
}

function isReachable(candidate: Placed, focused: Placed, direction: Direction): boolean {
  if (candidate === focused) return false;
  const keeper = ancestors(focused).find(({ view }) => view.keepsFocus);
  if (keeper && !ancestors(candidate).includes(keeper)) return false;
  // What a list has scrolled away is only there for a focus in this list that goes the way that it scrolls.
  const axis = direction === "left" || direction === "right" ? "x" : "y";
  return ancestors(candidate)
    .filter((list) => isScrolledAway(candidate, list))
    .every((list) => list.scrolling?.axis === axis && ancestors(focused).includes(list));
}

/** Along the way that the list scrolls: across it, a rail in a list of rails hides its own. */
function isScrolledAway({ rect }: Placed, { scrolling, rect: area }: Placed): boolean {
  if (!scrolling) return false;
  return scrolling.axis === "x"
    ? !overlap({ ...rect, y: area.y, height: area.height }, area)
    : !overlap({ ...rect, x: area.x, width: area.width }, area);
}

function ancestors(placed: Placed): Placed[] {
  const above: Placed[] = [];
  for (let one = placed.parent; one; one = one.parent) above.push(one);
  return above;
}

function confirm(stage: Stage, surface: Surface, view: View, isLong: boolean): void {
  const actions = isLong && view.onLongPress ? view.onLongPress : view.onTap;
  if (actions) stage.act(surface, actions);
}

/** Those that a D-pad may lead to: also what is scrolled out of sight. */
export function focusables({ root }: Surface): Placed[] {
  return [...everyPlaced(root)].filter((placed) => isFocusable(placed.view) && hasArea(placed.rect));
}

const hasArea = ({ width, height }: Rect) => width > 0 && height > 0;
