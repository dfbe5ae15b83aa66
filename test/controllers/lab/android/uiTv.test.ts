import { expect, it } from "vitest";
import { type Direction, nextFocus } from "../../../lab/android/ui/focusSearch.ts";
import { device, nodesBelow, tvScreen } from "./uiDevice.ts";

const [up, down, right, ok] = [19, 20, 22, 23];

const box = (name: string, x: number, y: number, width = 100, height = 50) => ({
  name,
  rect: { x, y, width, height },
});

it.each<[string, Direction, ReturnType<typeof box>[], string | undefined]>([
  ["the nearest of a row", "right", [box("far", 400, 0), box("near", 200, 0)], "near"],
  [
    "what is in the beam before what is nearer and outside it",
    "right",
    [box("outside", 120, 60), box("beam", 900, 10)],
    "beam",
  ],
  [
    "what is near before what is in the beam and far below",
    "down",
    [box("beam", 0, 900), box("outside", 150, 60)],
    "outside",
  ],
  [
    "the beam below, if it is nearer than the far edge of the other",
    "down",
    [box("outside", 150, 200), box("beam", 50, 210)],
    "beam",
  ],
  [
    "straight on rather than aside, at the same distance",
    "up",
    [box("aside", 300, -100), box("on", 120, -100)],
    "on",
  ],
  ["nothing that lies behind", "left", [box("behind", 200, 0)], undefined],
])("the focus goes to %s", (_, direction, candidates, expected) => {
  expect(nextFocus({ x: 0, y: 0, width: 100, height: 50 }, candidates, direction)?.name).toBe(expected);
});

it("starts with a focus, moves it by rects over rows, and scrolls what it leads to into sight", () => {
  const tv = device(tvScreen);
  expect(tv.focused()).toBe("Search");
  tv.keys(down, down, right, right);
  expect(tv.focused()).toBe("Drama 3");
  tv.keys(down, down);
  expect(tv.focused()).toBe("News 3");
  const card = tv.nodes().find(({ focused }) => focused)?.bounds;
  expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThanOrEqual(1080);
  expect(card?.height).toBe(180);
  tv.keys(right, right, right);
  expect(tv.focused()).toBe("News 6");
  tv.keys(up, up, up, up, up);
  expect(tv.nodes().filter(({ focused }) => focused)).toHaveLength(1);
});

it("has no bars, no keyboard of the system, and does not turn", () => {
  const tv = device(tvScreen);
  expect(tv.ui.windows().map(({ kind }) => kind)).toEqual(["application"]);
  tv.keys(ok, ok);
  expect(tv.ui.keyboardShown()).toBe(false);
  tv.ui.rotate(90);
  expect(tv.ui.space()).toEqual({ width: 1920, height: 1080, rotation: 0 });
  tv.ui.type("news");
  expect(nodesBelow(tv.ui.active().root).find(({ focused }) => focused)?.text).toBe("news");
});
