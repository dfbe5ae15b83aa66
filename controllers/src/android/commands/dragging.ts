import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, targetShape, timeoutShape } from "../../elements/target.ts";
import { type AndroidSession, sendInputs, sent } from "../session.ts";
import { type Place, pixel, pointOf } from "./pointer.ts";

const bothEnds =
  "Give both ends, each as an element (ref or selector, to_ref or to_selector) or as a point (from_x and from_y, to_x and to_y).";
const input = z.strictObject({
  ...targetShape,
  from_x: pixel.optional().describe("A point in pixels of the screen, with from_y, in place of an element."),
  from_y: pixel.optional(),
  to_ref: targetShape.ref.describe("ref of the element to drop on"),
  to_selector: targetShape.selector.describe("selector of the element to drop on"),
  to_x: pixel.optional().describe("A point, with to_y, in place of an element to drop on."),
  to_y: pixel.optional(),
  duration_ms: z.int().min(100).max(10_000).default(1_000),
  ...timeoutShape,
});

export function dragCommands(session: AndroidSession): Command[] {
  return [
    defineCommand<typeof input>({
      name: "drag",
      description: "Holds an element or point until it can be moved, and drops it on another.",
      effect: "write",
      input,
      async run({ duration_ms, timeout_ms, ...named }, signal) {
        const { ref, selector, from_x, from_y, to_ref, to_selector, to_x, to_y } = named;
        const start = { ref, selector, x: from_x, y: from_y };
        const end = { ref: to_ref, selector: to_selector, x: to_x, y: to_y };
        const locate = (place: Place) =>
          pointOf(session, place, { timeoutMs: timeout_ms, hint: bothEnds }, signal);
        const [from, to] = [await locate(start), await locate(end)];
        // A keyboard that was hidden for the second may have moved the first.
        const again = hasTarget(start) ? await locate(start) : from;
        const line = ["input", "draganddrop", ...[again.x, again.y, to.x, to.y, duration_ms].map(String)];
        await sendInputs(session, [line], signal, { timeoutMs: 15_000 + duration_ms });
        return sent(`dragged ${again.name} to ${to.name}`);
      },
    }),
  ];
}
