import { afterEach, expect, it, vi } from "vitest";
import { ScreenReader } from "#controllers/screens/reader.ts";
import type { UiTree } from "#controllers/screens/tree.ts";

const never = new AbortController().signal;

/** A screen with one button, at this height. */
function screenWith(top: number): UiTree {
  const bounds = { x: 0, y: top, width: 200, height: 100 };
  const button = { role: "button", text: "Buy", bounds, clickable: true, children: [] };
  return { roots: [button], space: { width: 1080, height: 2400, rotation: 0 } };
}

afterEach(() => vi.useRealTimers());

it("an element that has moved by itself since the last snapshot is acted on where it is now", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let top = 0;
  let looks = 0;
  const reader = new ScreenReader({
    async read() {
      looks += 1;
      return screenWith(top);
    },
  });
  const place = async () => (await reader.one({ selector: "text=Buy" }, never, 0)).seen.element.rect?.y;
  expect(await place()).toBe(0);
  expect(await place()).toBe(0);
  expect(looks).toBe(1);
  top = 300;
  vi.advanceTimersByTime(600);
  expect(await place()).toBe(300);
});
