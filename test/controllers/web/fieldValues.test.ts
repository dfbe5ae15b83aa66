import { describe, expect, test } from "vitest";
import { type DateType, dateForm, isoOf } from "#controllers/web/acting/fieldDates.ts";
import { isTaken } from "#controllers/web/acting/fieldTaken.ts";

describe("a text for a date or time field", () => {
  test.each<[type: DateType, text: string, locale: string, iso: string]>([
    ["date", "2026-11-30", "en-US", "2026-11-30"],
    ["date", "11/30/2026", "en-US", "2026-11-30"],
    ["date", "1/2/2026", "en-US", "2026-01-02"],
    ["date", "1/2/2026", "en-GB", "2026-02-01"],
    ["date", "30.11.2026", "de-DE", "2026-11-30"],
    ["date", "30. November 2026", "de-DE", "2026-11-30"],
    ["date", "November 30, 2026", "en-US", "2026-11-30"],
    ["date", "30 nov. 2026", "fr-FR", "2026-11-30"],
    ["date", "2026年11月30日", "ja-JP", "2026-11-30"],
    ["date", "2026/11/30", "en-US", "2026-11-30"],
    ["date", "٣٠/١١/٢٠٢٦", "ar-EG", "2026-11-30"],
    ["time", "22:30", "en-US", "22:30"],
    ["time", "10:30 PM", "en-US", "22:30"],
    ["time", "12:05 am", "en-US", "00:05"],
    ["time", "9:05:07", "de-DE", "09:05:07"],
    ["time", "下午10:30", "zh-CN", "22:30"],
    ["month", "2026-11", "en-US", "2026-11"],
    ["month", "November 2026", "en-US", "2026-11"],
    ["month", "11/2026", "de-DE", "2026-11"],
    ["month", "novembre 2026", "fr-FR", "2026-11"],
    ["week", "2026-W49", "en-US", "2026-W49"],
    ["week", "Week 49, 2026", "en-US", "2026-W49"],
    ["datetime-local", "2026-11-30T22:30", "en-US", "2026-11-30T22:30"],
    ["datetime-local", "2026-11-30 22:30:15", "de-DE", "2026-11-30T22:30:15"],
    ["datetime-local", "11/30/2026, 10:30 PM", "en-US", "2026-11-30T22:30"],
    ["datetime-local", "30.11.2026, 22:30", "de-DE", "2026-11-30T22:30"],
  ])("%s %s (%s) is %s", (type, text, locale, iso) => {
    expect(isoOf(type, text, locale)).toBe(iso);
  });

  test.each<[type: DateType, text: string, locale: string]>([
    ["date", "30/11/2026", "en-US"],
    ["date", "2026-02-30", "en-US"],
    ["date", "11/30/26", "en-US"],
    ["date", "tomorrow", "en-US"],
    ["date", "about 11/30/2026", "en-US"],
    ["time", "25:00", "en-US"],
    ["time", "13:00 PM", "en-US"],
    ["month", "13/2026", "de-DE"],
    ["week", "2026-W54", "en-US"],
    ["datetime-local", "2026-11-30", "en-US"],
  ])("%s %s (%s) is neither", (type, text, locale) => {
    expect(isoOf(type, text, locale)).toBeUndefined();
  });

  test("what an error says of the form can be typed", () => {
    for (const locale of ["en-US", "en-GB", "de-DE", "fr-FR", "ja-JP", "ko-KR", "pt-BR", "sv-SE", "pl-PL"]) {
      for (const type of ["date", "time", "month", "datetime-local"] as const) {
        const [, iso = "", shown = ""] = /as (\S+) or (.+)$/.exec(dateForm(type, locale)) ?? [];
        expect(isoOf(type, iso, locale), `${type} ${locale}`).toBe(iso);
        expect(isoOf(type, shown, locale), `${type} ${locale} ${shown}`).toBe(iso);
      }
    }
  });
});

describe("a field has taken a text", () => {
  test.each([
    ["Ada", "Ada"],
    ["  Ada  Lovelace ", "Ada Lovelace"],
    ["ab12", "AB12"],
    ["5551234567", "(555) 123-4567"],
    ["555-123-4567", "(555) 123-4567"],
    ["5551234567", "+1 (555) 123-4567"],
    ["4111 1111 1111 1111", "4111111111111111"],
    ["30.11.2026", "30/11/2026"],
    ["1234.5", "$1,234.50"],
    ["1234.5", "1.234,50 €"],
    ["1,234", "1234"],
    ["50", "50%"],
    ["-5", "-5.00"],
    ["12", "12:__"],
    ["", ""],
    ["", "(___) ___-____"],
    ["line\none", "line\r\none"],
    ["日本", "日本"],
  ])("%j as %j", (asked, held) => {
    expect(isTaken(asked, held)).toBe(true);
  });

  test.each([
    ["Ada", ""],
    ["new", "old"],
    ["new", "oldnew"],
    ["abcdef", "abcde"],
    ["5551234567", "(555) 123-456"],
    ["1.5", "15"],
    ["-5", "5"],
    ["3.14159", "3.14"],
    ["99", "10"],
    ["192.168.1.1", "19216811"],
    ["a@b.org", "ab.org"],
    ["a-b", "ab"],
    ["", "old"],
    ["11/30/2026", "2026-11-30"],
  ])("%j not as %j", (asked, held) => {
    expect(isTaken(asked, held)).toBe(false);
  });
});
