const unitMs: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const lasting = /^last_(\d{1,5})_(minute|hour|day|week)s?$/;

/** Whether a text is a time range such as last_30_days. */
const isTimeRange = (value: unknown): value is string => typeof value === "string" && lasting.test(value);

/**
 * Parameters with each time range (`last_30_days`, in minutes, hours, days or weeks) as `{from, to}`: ISO 8601 times, `to` is `at`
 * (milliseconds since 1970).
 */
export const resolveTimeRanges = (
  params: Readonly<Record<string, unknown>>,
  at: number,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, isTimeRange(value) ? range(value, at) : value]),
  );

function range(text: string, at: number): { from: string; to: string } {
  const [, count = "0", unit = ""] = lasting.exec(text) ?? [];
  const from = at - Number(count) * (unitMs[unit] ?? 0);
  return { from: new Date(from).toISOString(), to: new Date(at).toISOString() };
}
