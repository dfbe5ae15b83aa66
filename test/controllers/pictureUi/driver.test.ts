import { afterEach, expect, it } from "vitest";
import { PaintedTv } from "../../fixtures/paintedTv.ts";

const never = new AbortController().signal;
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it("judges what a picture shows, and of the focus only once it is known", async () => {
  const tv = new PaintedTv({ "Main menu": ["Alpha", "Settings", "Radio"] });
  const screen = await tv.open();
  ends.push(() => screen.close());
  expect(screen.checks.map(({ name }) => name).sort()).toEqual([
    ...["element_count", "element_exists", "element_focused"],
    ...["element_hidden", "element_text", "element_visible"],
  ]);
  const focused = screen.checks.find(({ name }) => name === "element_focused");
  const read = (selector: string) => focused?.read(focused.input.parse({ selector }), never);
  expect(await read("Settings")).toMatchObject({ holds: false, inconclusive: expect.any(String) });
  tv.press("DOWN");
  expect(await read("Settings")).toMatchObject({ holds: true });
  const other = await read("Alpha");
  expect(other).toMatchObject({ holds: false });
  expect(other?.inconclusive).toBeUndefined();
});
