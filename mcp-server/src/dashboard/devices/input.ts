import type { DeviceReply } from "./replies.ts";

/** One command of `execute_device_action`. */
export type Action = { command: string; params: Record<string, unknown> };

type Box = { left: number; top: number; width: number; height: number };

const isWeb = ({ controllers }: Pick<DeviceReply, "controllers">) => /\bweb\b/.test(controllers);

/** A click at a place of the window, on a picture that is drawn in `box` and has `size` pixels. */
export function clickAt(
  device: Pick<DeviceReply, "controllers">,
  at: { clientX: number; clientY: number },
  { box, size }: { box: Box; size: { width: number; height: number } },
): Action {
  const along = (from: number, length: number, pixels: number) =>
    Math.min(pixels - 1, Math.max(0, Math.round((from / length) * pixels)));
  const params = {
    x: along(at.clientX - box.left, box.width, size.width),
    y: along(at.clientY - box.top, box.height, size.height),
  };
  return { command: isWeb(device) ? "tap_x_y" : "tap", params };
}

/** Keys that every device knows, by the names that browsers give to those of a keyboard. */
const named: Readonly<Record<string, string>> = {
  Enter: "OK",
  ArrowUp: "UP",
  ArrowDown: "DOWN",
  ArrowLeft: "LEFT",
  ArrowRight: "RIGHT",
  Home: "HOME",
};

/** What a key does on the device. Undefined for one that stays with the page: Tab and Escape lead out of the picture. */
export function keyed(
  device: Pick<DeviceReply, "controllers">,
  { key, ctrlKey, metaKey, altKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
): Action | undefined {
  if (key === "Tab" || key === "Escape" || ctrlKey || metaKey || altKey) return undefined;
  if ([...key].length === 1) return { command: "type_text", params: { text: key } };
  if (isWeb(device))
    return /^(Enter|Backspace|Delete|Arrow\w+|Home|End|Page\w+|F\d+)$/.test(key) ? press(key) : undefined;
  const name = named[key];
  return name === undefined ? undefined : press(name);
}

export const press = (key: string): Action => ({ command: "press_key", params: { key } });

/** Runs actions one after another; letters that wait are typed as one text. `run` must not reject. */
export function createQueue(run: (action: Action) => Promise<void>) {
  const waiting: Action[] = [];
  let isRunning = false;

  async function work(): Promise<void> {
    isRunning = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) await run(next);
    isRunning = false;
  }

  return {
    add(action: Action): void {
      const last = waiting.at(-1);
      if (last?.command === "type_text" && action.command === "type_text")
        last.params = { text: `${String(last.params.text)}${String(action.params.text)}` };
      else waiting.push(action);
      if (!isRunning) void work();
    },
    /** Forgets what waits, since it was aimed at another screen. */
    clear: () => void waiting.splice(0),
  };
}
