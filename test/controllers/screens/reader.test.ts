import { afterEach, expect, it, vi } from "vitest";
import { scanScreen } from "../../../controllers/src/screens/androidTree.ts";
import { ScreenReader } from "../../../controllers/src/screens/reader.ts";
import type { UiTree } from "../../../controllers/src/screens/tree.ts";

const never = new AbortController().signal;

/** A screen with one button, at this height. */
function screenWith(top: number): UiTree {
  const xml = `<hierarchy rotation="0"><node class="android.widget.Button" text="Buy" clickable="true" bounds="[0,${top}][200,${top + 100}]"/></hierarchy>`;
  const scanned = scanScreen(xml);
  if (!scanned) throw new Error("There is no hierarchy.");
  return {
    ...scanned,
    rotation: 0,
    front: { packageName: "com.example", activity: "" },
    isKeyboardShown: false,
  };
}

afterEach(() => vi.useRealTimers());

it("an element that has moved by itself since the last look is acted on where it is now", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let top = 0;
  let looks = 0;
  const reader = new ScreenReader(
    { facts: () => ({ screen: { width: 1080, height: 2400 }, isTv: false }) },
    {
      async read() {
        looks += 1;
        return screenWith(top);
      },
      driven: () => undefined,
    },
  );
  const place = async () => (await reader.one({ selector: "text=Buy" }, never, 0)).seen.element.rect?.y;
  expect(await place()).toBe(0);
  expect(await place()).toBe(0);
  expect(looks).toBe(1);
  top = 300;
  vi.advanceTimersByTime(600);
  expect(await place()).toBe(300);
});
