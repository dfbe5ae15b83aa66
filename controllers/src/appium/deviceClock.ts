const dayMs = 86_400_000;

/** Reads the times of a log that names neither year nor zone, by one look at the device's own clock. */
export class DeviceClock {
  readonly #year: number;
  readonly #zone: string;
  /** Seconds since 1970, in whole ones, when the device was asked. */
  readonly now: number;

  /** `iso` is as Appium gives it, `2026-11-25T15:00:00+01:00`. */
  constructor(iso: string) {
    this.now = Math.floor(Date.parse(iso) / 1_000);
    this.#year = Number(iso.slice(0, 4));
    this.#zone = /[+-]\d\d:?\d\d$/.exec(iso)?.[0] ?? "Z";
  }

  /** Seconds since 1970 of `11-25 15:00:00.123`, which is of the year before where it would lie in the future. */
  secondsOf(time: string): number {
    const inYear = (year: number) => Date.parse(`${year}-${time.replace(" ", "T")}${this.#zone}`);
    const thisYear = inYear(this.#year);
    return (thisYear > this.now * 1_000 + dayMs ? inYear(this.#year - 1) : thisYear) / 1_000;
  }
}
