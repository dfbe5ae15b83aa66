/** Types of `<input>` that hold a date or a time. */
export type DateType = "date" | "time" | "month" | "week" | "datetime-local";

export const isDateType = (type: string): type is DateType =>
  /^(date|time|month|week|datetime-local)$/.test(type);

/**
 * The value of an input of this type for a text, in the shortest ISO form, as browsers store it. Reads ISO 8601 and the locale's
 * own forms, with month names. Undefined for any other text, and for a day or time that does not exist.
 */
export function isoOf(type: DateType, text: string, locale: string): string | undefined {
  const plain = westernDigits(text, locale).normalize("NFKC").replace(/\s+/g, " ").trim();
  return readers[type](plain, locale);
}

/** How to write what the type takes: "dates as 2026-11-30 or 11/30/2026". */
export function dateForm(type: DateType, locale: string): string {
  const at = new Date(2026, 10, 30, 22, 30);
  const date = format(locale, { year: "numeric", month: "2-digit", day: "2-digit" }).format(at);
  const time = format(locale, { hour: "2-digit", minute: "2-digit" }).format(at).replace(/\s/g, " ");
  const month = format(locale, { year: "numeric", month: "long" }).format(at);
  return {
    date: `dates as 2026-11-30 or ${date}`,
    time: `times as 22:30 or ${time}`,
    month: `months as 2026-11 or ${month}`,
    week: "weeks as 2026-W49 or Week 49, 2026",
    "datetime-local": `a date and time as 2026-11-30T22:30 or ${date}, ${time}`,
  }[type];
}

const readers: Readonly<Record<DateType, (text: string, locale: string) => string | undefined>> = {
  date: dateOf,
  time: timeOf,
  month: monthOf,
  week: weekOf,
  "datetime-local": dateTimeOf,
};

function dateOf(text: string, locale: string): string | undefined {
  const iso = /^(\d{4,6})-(\d\d)-(\d\d)$/.exec(text);
  if (iso) return dateFrom({ year: iso[1], month: iso[2], day: iso[3] });
  const { words, month } = withoutMonthName(text, locale);
  const numbers = words.match(/\d+/g) ?? [];
  if (!isOnlySeparators(words, locale)) return undefined;
  const order = orderOf(locale).filter((part) => month === undefined || part !== "month");
  if (numbers.length !== order.length) return undefined;
  // In all locales month and day follow a leading year.
  const isYearFirst = (numbers[0]?.length ?? 0) > 2;
  const ordered = isYearFirst ? ["year", "month", "day"].filter((part) => order.includes(part)) : order;
  const parts: Parts = Object.fromEntries(ordered.map((part, at) => [part, numbers[at]]));
  return dateFrom({ ...parts, ...(month === undefined ? {} : { month }) });
}

type Parts = { year?: string | undefined; month?: string | undefined; day?: string | undefined };

function dateFrom({ year = "", month = "", day = "" }: Parts): string | undefined {
  if (year.length < 4 || month.length > 2 || day.length > 2) return undefined;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const isReal = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  return isReal ? `${year}-${two(month)}-${two(day)}` : undefined;
}

function timeOf(text: string, locale: string): string | undefined {
  const { words, isAfternoon } = withoutDayPeriod(text, locale);
  const found = /^(\d{1,2})[:.h](\d\d)(?:[:.](\d\d)(?:[.,](\d{1,3}))?)?$/.exec(words);
  if (!found) return undefined;
  const [, hourText = "", minute = "", second = "00", thousandth = ""] = found;
  const hour = hourFrom(Number(hourText), isAfternoon);
  if (hour === undefined || Number(minute) > 59 || Number(second) > 59) return undefined;
  const fraction = thousandth.padEnd(3, "0");
  const rest = Number(fraction) > 0 ? `:${second}.${fraction}` : second === "00" ? "" : `:${second}`;
  return `${two(hour)}:${minute}${rest}`;
}

/** `isAfternoon` is undefined on a clock of 24 hours. */
function hourFrom(hour: number, isAfternoon: boolean | undefined): number | undefined {
  if (isAfternoon === undefined) return hour < 24 ? hour : undefined;
  return hour >= 1 && hour <= 12 ? (hour % 12) + (isAfternoon ? 12 : 0) : undefined;
}

function dateTimeOf(text: string, locale: string): string | undefined {
  const { words, isAfternoon } = withoutDayPeriod(text, locale);
  const time = /(?:^|[T ,])(\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,3})?)?)$/i.exec(words);
  if (!time?.[1]) return undefined;
  const date = dateOf(words.slice(0, time.index).replace(/[\s,]+$/, ""), locale);
  const period = isAfternoon === undefined ? "" : isAfternoon ? " pm" : " am";
  const clock = timeOf(`${time[1]}${period}`, locale);
  return date && clock ? `${date}T${clock}` : undefined;
}

function monthOf(text: string, locale: string): string | undefined {
  const iso = /^(\d{4,6})-(\d\d)$/.exec(text);
  if (iso) return monthFrom(iso[1], iso[2]);
  const named = withoutMonthName(text, locale);
  const numbers = named.words.match(/\d+/g) ?? [];
  if (!isOnlySeparators(named.words, locale)) return undefined;
  const year = numbers.find((one) => one.length > 2);
  const [month = named.month, ...others] = numbers.filter((one) => one !== year);
  return others.length === 0 ? monthFrom(year, month) : undefined;
}

function monthFrom(year: string | undefined, month: string | undefined): string | undefined {
  return dateFrom({ year, month, day: "1" })?.slice(0, -3);
}

function weekOf(text: string): string | undefined {
  const year = /\d{4,6}/.exec(text)?.[0] ?? "";
  const [week, ...others] = text.replace(year, "").match(/\d{1,2}/g) ?? [];
  const isWeek = /^\d{4,6}-?W\d{1,2}$/i.test(text) || /^[\p{L}. ]+\d{1,2}[ ,/]+\d{4,6}$/u.test(text);
  if (!isWeek || week === undefined || others.length > 0) return undefined;
  return Number(week) >= 1 && Number(week) <= 53 ? `${year}-W${two(week)}` : undefined;
}

const two = (number: number | string): string => String(Number(number)).padStart(2, "0");

/** Chromium's own fields count in the Gregorian calendar everywhere. */
const format = (locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale, { ...options, calendar: "gregory" });

function orderOf(locale: string): string[] {
  return format(locale, { year: "numeric", month: "2-digit", day: "2-digit" })
    .formatToParts()
    .map(({ type }) => type)
    .filter((type) => /^(year|month|day)$/.test(type));
}

/** Only numbers, the locale's separators, and the one-letter words for year, month and day. */
function isOnlySeparators(words: string, locale: string): boolean {
  const literals = format(locale, { year: "numeric", month: "numeric", day: "numeric" })
    .formatToParts()
    .flatMap(({ type, value }) => (type === "literal" ? [...value] : []));
  return [...words.replace(/\d/g, "")].every(
    (one) => /[\s.,/年月日년월일-]/.test(one) || literals.includes(one),
  );
}

function withoutMonthName(text: string, locale: string): { words: string; month: string | undefined } {
  const names = (["long", "short"] as const).flatMap((month) =>
    Array.from({ length: 12 }, (_, at) => ({
      month: `${at + 1}`,
      names: [{ month }, { month, day: "numeric" as const }].map(
        (options) =>
          format(locale, options)
            .formatToParts(new Date(2026, at, 15))
            .find(({ type }) => type === "month")
            ?.value.toLowerCase() ?? "",
      ),
    })),
  );
  const lower = text.toLowerCase();
  for (const { month, names: forms } of names) {
    const form = forms.find((one) => /\p{L}{2}/u.test(one) && lower.includes(one));
    if (form !== undefined) return { words: lower.replace(form, " ").replace(/ de | of /g, " "), month };
  }
  return { words: text, month: undefined };
}

function withoutDayPeriod(text: string, locale: string): { words: string; isAfternoon: boolean | undefined } {
  const lower = text.toLowerCase();
  const said = (hour: number) =>
    format(locale, { hour: "numeric", hour12: true })
      .formatToParts(new Date(2026, 0, 1, hour))
      .find(({ type }) => type === "dayPeriod")
      ?.value.toLowerCase()
      .normalize("NFKC")
      .replace(/\s+/g, " ") ?? "";
  const periods = [
    { isAfternoon: true, names: [said(15), "p.m.", "pm"] },
    { isAfternoon: false, names: [said(3), "a.m.", "am"] },
  ];
  for (const { isAfternoon, names } of periods) {
    const name = names.find((one) => one !== "" && lower.includes(one));
    if (name !== undefined)
      return { words: lower.replace(name, " ").trim().replace(/ +/g, " "), isAfternoon };
  }
  return { words: text, isAfternoon: undefined };
}

function westernDigits(text: string, locale: string): string {
  const digits = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9876543210)].reverse();
  return text.replace(/\p{Nd}/gu, (digit) => {
    const value = digits.indexOf(digit);
    return value < 0 ? digit : String(value);
  });
}
