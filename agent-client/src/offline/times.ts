import * as chrono from "chrono-node/en";

/** `since` is included, `until` is not. `from` and `to` are the place of `said` in the text. */
export type Period = { since?: Date; until?: Date; said: string; from: number; to: number };
type Result = ReturnType<typeof chrono.parse>[number];

const directions = /\b(?:since|after|from|before|until|till)\s+(?:the\s+)?$/iu;
/** Spans that end now: "the last 3 days". A "last week" is a week of the calendar. */
const span = /\b(?:past|hours?|minutes?|days|weeks|months|years)\b/iu;
/** Chrono reads these as other times than people mean. */
const misread = /morning|afternoon|evening|night|weekend|quarter|end of/iu;

/** The longest time that a text names, in the machine's time zone. Undefined when it names none. */
export function periodIn(text: string, now: Date): Period | undefined {
  const [longest] = chrono
    .parse(text, now)
    // Short words such as "may" and "sat" are also words of other sentences.
    .filter((result) => /\d|.{4}/u.test(result.text) && !result.end && !misread.test(result.text))
    .sort((a, b) => b.text.length - a.text.length);
  if (!longest) return undefined;
  const [direction = ""] = directions.exec(text.slice(0, longest.index)) ?? [];
  const [from, to] = [longest.index - direction.length, longest.index + longest.text.length];
  const [since, until] = boundsOf(longest, now);
  const place = { from, to, said: text.slice(from, to) };
  if (/before|until|till/iu.test(direction)) return { ...place, until: since };
  return { ...place, since, ...(!direction && { until }) };
}

function boundsOf({ text, start }: Result, now: Date): [since: Date, until: Date] {
  if (/\bago$/iu.test(text) ? start.isCertain("hour") : span.test(text)) return [start.date(), now];
  const date = /this week/iu.test(text) ? now : latest(start, now);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  const monday = day - ((date.getDay() + 6) % 7);
  if (start.isCertain("hour")) return [date, new Date(date.getTime() + 3_600_000)];
  if (/week/iu.test(text)) return [new Date(year, month, monday), new Date(year, month, monday + 7)];
  if (start.isCertain("day") || start.isCertain("weekday"))
    return [new Date(year, month, day), new Date(year, month, day + 1)];
  if (start.isCertain("month")) return [new Date(year, month), new Date(year, month + 1)];
  return [new Date(year, 0), new Date(year + 1, 0)];
}

/** What ran did not run in the future: a Friday or a date without a year is the last one. */
function latest(start: Result["start"], now: Date): Date {
  const date = start.date();
  if (date <= now || start.isCertain("year")) return date;
  if (start.isCertain("month")) date.setFullYear(date.getFullYear() - 1);
  else date.setDate(date.getDate() - (start.isCertain("weekday") ? 7 : 1));
  return date;
}
