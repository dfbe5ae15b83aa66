import type { Check, Reading } from "../contract.ts";

export const ofSubject = () => "subject" as const;
export const ofPresence = () => "presence" as const;

/** There was nothing to read. */
export const absent = (expected: string, actual: string): Reading => ({
  holds: false,
  expected,
  actual,
  missing: "absent",
});

/** For a reading that may be one of nothing. */
export function missing(isAbsent: boolean, isUnclear = false): Pick<Reading, "missing"> {
  if (isAbsent) return { missing: "absent" };
  return isUnclear ? { missing: "unclear" } : {};
}

/** The reading of a check that could not be judged, whatever it asked for. */
export const inconclusive = (expected: string, why: string): Reading => ({
  holds: false,
  expected,
  actual: why,
  inconclusive: why,
});

/** Whether the check may be judged while its subject is missing as the reading says. */
const mayBeMissing = (
  check: Pick<Check, "judges">,
  input: Readonly<Record<string, unknown>>,
  reading: Reading,
) => reading.missing === undefined || (reading.missing === "absent" && check.judges(input) === "presence");

/**
 * Whether a reading is what was asked for: that the check holds, or with `negate` its opposite. Only a check of presence holds,
 * or its opposite, while its subject is missing.
 */
export function passes(
  check: Pick<Check, "judges">,
  input: Readonly<Record<string, unknown>>,
  reading: Reading,
  negate: boolean,
): boolean {
  if (reading.inconclusive !== undefined || !mayBeMissing(check, input, reading)) return false;
  return reading.holds !== negate;
}
