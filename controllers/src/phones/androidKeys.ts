import type { PortableKey } from "../elements/keys.ts";

const digits = Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [`${digit}`, 7 + digit]));

/** Numbers of android.view.KeyEvent. */
const portableCodes = {
  UP: 19,
  DOWN: 20,
  LEFT: 21,
  RIGHT: 22,
  OK: 23,
  BACK: 4,
  HOME: 3,
  MENU: 82,
  INFO: 165,
  GUIDE: 172,
  SEARCH: 84,
  SETTINGS: 176,
  INPUT: 178,
  POWER: 26,
  PLAY: 126,
  PAUSE: 127,
  PLAY_PAUSE: 85,
  STOP: 86,
  RECORD: 130,
  REWIND: 89,
  FAST_FORWARD: 90,
  NEXT: 87,
  PREVIOUS: 88,
  RED: 183,
  GREEN: 184,
  YELLOW: 185,
  BLUE: 186,
  CHANNEL_UP: 166,
  CHANNEL_DOWN: 167,
  VOLUME_UP: 24,
  VOLUME_DOWN: 25,
  MUTE: 164,
  ENTER: 66,
  TAB: 61,
  SPACE: 62,
  ESCAPE: 111,
  BACKSPACE: 67,
  DELETE: 112,
  END: 123,
  PAGE_UP: 92,
  PAGE_DOWN: 93,
} as const satisfies Partial<Record<PortableKey, number>>;

const ownCodes = { RECENTS: 187, MOVE_HOME: 122, WAKEUP: 224, SLEEP: 223, CAPTIONS: 175, CAMERA: 27 };

const codes: Readonly<Record<string, number>> = { ...portableCodes, ...ownCodes, ...digits };

export const keyNames: readonly string[] = Object.keys(codes);

/** The code of a key by this driver's name, with or without KEYCODE_; undefined for an unknown key. */
export function findKeyCode(name: string): number | undefined {
  // Android's KEYCODE_MUTE mutes the microphone; MUTE of this driver is its VOLUME_MUTE.
  if (name === "KEYCODE_MUTE") return 91;
  const plain = name.replace(/^KEYCODE_/, "");
  return Object.hasOwn(codes, plain) ? codes[plain] : undefined;
}
