/** A duration in ms for people. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return "";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** A value as a person would write it. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An ISO time in the reader's own zone and language. */
export const moment = (iso: string): string =>
  Number.isNaN(Date.parse(iso)) ? iso : new Date(iso).toLocaleString();

/** An ISO time for readers in any zone. */
export const utc = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
