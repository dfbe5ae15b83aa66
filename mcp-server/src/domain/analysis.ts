import { z } from "zod";

/** What a result is worth. `BUG` is the app's fault, `SCRIPT_ISSUE` the test's, `SYSTEM_ISSUE` the lab's. */
export const classificationSchema = z.enum([
  "VALID_PASS",
  "VALID_FAIL",
  "BUG",
  "SCRIPT_ISSUE",
  "SYSTEM_ISSUE",
]);
export type Classification = z.output<typeof classificationSchema>;
