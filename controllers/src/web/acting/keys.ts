import { noSuchKey, type PortableKey } from "../../elements/keys.ts";

/** The portable keys that a page receives. BACK is the browser's own, and digits keep their names. */
const portable: Readonly<Partial<Record<PortableKey, string>>> = {
  UP: "ArrowUp",
  DOWN: "ArrowDown",
  LEFT: "ArrowLeft",
  RIGHT: "ArrowRight",
  OK: "Enter",
  ENTER: "Enter",
  HOME: "Home",
  END: "End",
  MENU: "ContextMenu",
  TAB: "Tab",
  SPACE: "Space",
  ESCAPE: "Escape",
  DELETE: "Delete",
  BACKSPACE: "Backspace",
  PAGE_UP: "PageUp",
  PAGE_DOWN: "PageDown",
  CHANNEL_UP: "PageUp",
  CHANNEL_DOWN: "PageDown",
};

const mappedKeys = new Map<string, string>(Object.entries(portable));

const others: Readonly<Record<string, string>> = {
  ctrl: "Control",
  control: "Control",
  cmd: "Meta",
  command: "Meta",
  meta: "Meta",
  alt: "Alt",
  option: "Alt",
  shift: "Shift",
  controlormeta: "ControlOrMeta",
  esc: "Escape",
  return: "Enter",
  del: "Delete",
  spacebar: "Space",
  insert: "Insert",
  plus: "+",
};

const known = [
  ...new Set([
    ...Object.values(portable),
    ...Object.values(others),
    "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 CapsLock NumLock ScrollLock PrintScreen Pause".split(" "),
  ]),
].flat();

/** "BACK", or a key or chord for Playwright. Throws INVALID_PARAMS with the nearest names. */
export function keyOf(name: string): string {
  if (name === "BACK") return name;
  if (name === "+") return name;
  return name
    .split(/\+(?!$)/)
    .map(oneKey)
    .join("+");
}

function oneKey(name: string): string {
  const lower = name.toLowerCase();
  const mapped = mappedKeys.get(name) ?? (Object.hasOwn(others, lower) ? others[lower] : undefined);
  if (mapped !== undefined) return mapped;
  if ([...name].length === 1) return name;
  const exact = known.find((key) => key.toLowerCase() === lower.replaceAll("_", ""));
  // Playwright checks codes such as KeyA and Digit1.
  if (exact !== undefined || /^(Key[A-Z]|Digit\d|Numpad\w+)$/.test(name)) return exact ?? name;
  throw noSuchKey(name, [...known, ...Object.keys(portable), "BACK"], " Chords are written Control+a.");
}
