import * as de from "chrono-node/de";
import * as en from "chrono-node/en";
import * as fr from "chrono-node/fr";

type Bounds = { since: Date; until: Date };
/** `until` is excluded. `from` and `to` say where the text has it, `said` is its words. */
export type Period = Partial<Bounds> & { said: string; from: number; to: number };
type Result = ReturnType<typeof en.parse>[number];

const article = "\\s+(?:(?:the|dem|der|le|la)\\s+)?$";
const after = new RegExp(`(?<!\\S)(?:since|after|from|seit|nach|ab|depuis|apr[eè]s)${article}`, "iu");
const before = new RegExp(`(?<!\\S)(?:before|until|till|bis|vor|avant|jusqu\\S*)${article}`, "iu");
/** "hier" is yesterday in French and here in German. */
const german = /\b(?:was|wer|wie|gibt|es|ist|sind|welche|der|die|das|hat|lief|liefen)\b/iu;
const ago = /\bago$|^vor |^il y a /iu;
/** Up to now, and no day or week of the calendar. */
const span =
  /\b(?:past|hours?|minutes?|days|weeks|stunden?|minuten?|tagen|wochen|heures?|jours|semaines|derniers)\b/iu;
const partsOfDay = new Map<string, [from: number, to: number]>([
  ["morning", [0, 12]],
  ["afternoon", [12, 18]],
  ["evening", [18, 24]],
]);

/** What chrono does not know. */
const own: readonly [RegExp, (now: Date) => Bounds][] = [
  [/\b(?:this|diese[rn]?|cette) (?:week|woche|semaine)\b/iu, (now) => calendar("week", now)],
  [
    /\b(?:last night|overnight|(?:heute|letzte) nacht|cette nuit|la nuit derni[eè]re)/iu,
    (now) => hours(now, -6, 8),
  ],
  [
    /\b(?:(?:last )?weekend|(?:ce )?week-end|wochenende)\b/iu,
    (now) => hours(now, -24 * (1 + (now.getDay() % 7)), 24 * (1 - (now.getDay() % 7))),
  ],
];

/** The time that a text names, in the machine's time zone. Undefined when it names none. */
export function periodIn(text: string, now: Date): Period | undefined {
  for (const [pattern, read] of own) {
    const found = pattern.exec(text);
    if (found) return directed(text, found.index, found[0], read(now));
  }
  const results = (german.test(text) ? [en, de] : [en, de, fr])
    .flatMap((locale) => locale.parse(text, now))
    // "do", "so", "may" and the like are words of every sentence.
    .filter((result) => /\d|.{4}/u.test(result.text))
    .sort((a, b) => b.text.length - a.text.length);
  return results[0] && directed(text, results[0].index, results[0].text, boundsOf(results[0], now));
}

function directed(text: string, at: number, words: string, { since, until }: Bounds): Period {
  const lead = text.slice(0, at);
  const from = (after.exec(lead) ?? before.exec(lead))?.index ?? at;
  const place = { from, to: at + words.length, said: text.slice(from, at + words.length) };
  if (after.test(lead)) return { ...place, since };
  return before.test(lead) ? { ...place, until: since } : { ...place, since, until };
}

function boundsOf({ text, start, end }: Result, now: Date): Bounds {
  if (ago.test(text) ? start.isCertain("hour") : span.test(text)) return { since: start.date(), until: now };
  const first = past(start, now);
  const part = [...partsOfDay].find(([name]) => [...start.tags()].some((tag) => tag.endsWith(`/${name}`)));
  if (part) return hours(first, ...part[1]);
  const unit = /week|woche|semaine/iu.test(text) ? "week" : unitOf(start);
  return { since: calendar(unit, first).since, until: calendar(unit, end?.date() ?? first).until };
}

function unitOf(start: Result["start"]): "hour" | "day" | "month" {
  if (start.isCertain("hour")) return "hour";
  return start.isCertain("day") || start.isCertain("weekday") ? "day" : "month";
}

/** The last such day or hour: what ran did not run next Friday. */
function past(start: Result["start"], now: Date): Date {
  const date = start.date();
  if (date <= now || start.isCertain("day")) return date;
  return hours(date, date.getHours() - (start.isCertain("weekday") ? 7 * 24 : 24), 0).since;
}

function calendar(unit: "hour" | "day" | "week" | "month", date: Date): Bounds {
  const monday = ((date.getDay() + 6) % 7) * -24;
  if (unit === "hour") return { since: date, until: new Date(date.getTime() + 3_600_000) };
  if (unit === "day") return hours(date, 0, 24);
  if (unit === "week") return hours(date, monday, monday + 7 * 24);
  const [year, month] = [date.getFullYear(), date.getMonth()];
  return { since: new Date(year, month, 1), until: new Date(year, month + 1, 1) };
}

/** By the clock on the wall, counted from the day's midnight. */
const hours = (day: Date, from: number, to: number): Bounds => {
  const at = (hour: number) => new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour);
  return { since: at(from), until: at(to) };
};
