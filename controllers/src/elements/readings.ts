import type { Reading } from "../contract.ts";

/** There was nothing to read. */
export const absent = (expected: string, actual: string): Reading => ({
  holds: false,
  expected,
  actual,
  absent: true,
});

/** It cannot be told, whatever was asked. */
export const untold = (expected: string, why: string): Reading => ({
  holds: false,
  expected,
  actual: why,
  inconclusive: why,
});
