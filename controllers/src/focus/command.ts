import { z } from "zod";
import { targetShape, timeoutShape } from "../elements/target.ts";

export const moveFocusTo = {
  name: "move_focus_to",
  description:
    "Moves the focus to an element by arrow keys, looking after each; searches lists that go on beyond the screen.",
  effect: "write",
  input: z.strictObject({ ...targetShape, ...timeoutShape }),
} as const;
