import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { concealed } from "../../elements/concealed.ts";
import { quoted } from "../../elements/quoted.ts";
import { ofSubject } from "../../elements/readings.ts";
import { targetShape } from "../../elements/target.ts";
import { boundsIn } from "../../elements/titles.ts";
import type { CheckSession } from "../browser/session.ts";
import { lookUp, notOne } from "./lookup.ts";

/** The number that an element shows or a field holds. */
export function valueBetween(session: CheckSession): Check {
  return defineCheck({
    name: "value_between",
    description: "The number in a field or in an element's text lies between min and max, both included",
    input: z
      .strictObject({
        ...targetShape,
        min: z.number().optional(),
        max: z.number().optional(),
        decimal: z
          .enum([".", ","])
          .optional()
          .describe("Decimal sign where 1.234 or 1,234 could be read in two ways."),
      })
      .refine(({ min, max }) => min !== undefined || max !== undefined, "give min, max or both"),
    judges: ofSubject,
    title: (element, input) => `${element} is ${boundsIn(input)}`,
    async read({ min, max, decimal, ...target }, signal) {
      const lookup = await lookUp(session, target, signal, { whole: true });
      const expected = `the number of ${lookup.target} is ${boundsIn({ min, max })}`;
      const { first } = lookup;
      if (!first || lookup.count > 1) return notOne(session, lookup, expected, signal);
      // Of a secret no part is compared.
      const text = concealed(first.value ?? (first.shown || first.name));
      return { expected, ...judge(text, numbersIn(text, decimal), { min, max }) };
    },
  });
}

function judge(
  text: string,
  [number, ...others]: readonly number[],
  {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
  }: { min?: number | undefined; max?: number | undefined },
): Pick<Reading, "holds" | "actual" | "missing"> {
  const missing = { holds: false, missing: "unclear" } as const;
  if (number === undefined) return { ...missing, actual: `there is no number in ${quoted(text)}` };
  if (others.length > 0)
    return { ...missing, actual: `there are ${others.length + 1} numbers in ${quoted(text)}` };
  return { holds: number >= min && number <= max, actual: `it is ${number}, in ${quoted(text)}` };
}

/**
 * The numbers of a text, with either decimal sign and any separator of thousands. One comma or point before exactly three digits
 * is ambiguous: it is the decimal sign if it equals `decimal` or, by default, if it is a point.
 */
export function numbersIn(text: string, decimal?: "." | ","): number[] {
  const written =
    text.match(/(?<![\p{L}\d])[-−+]?\s?\p{Sc}?\s?\d(?:[\d.,'’]|[\s\u00a0\u202f](?=\d{3}(?!\d)))*/gu) ?? [];
  return written.map((one) => {
    const plain = one
      .replace(/−/g, "-")
      .replace(/[^\d.,-]/g, "")
      .replace(/[.,]$/, "");
    return Number(withPoint(plain, decimal));
  });
}

function withPoint(text: string, decimal: "." | "," | undefined): string {
  const last = /[.,](?=\d*$)/.exec(text)?.[0];
  if (last === undefined) return text;
  const isOnly = text.split(last).length === 2;
  const hasOther = text.includes(last === "." ? "," : ".");
  const isAmbiguous = isOnly && !hasOther && /[.,]\d{3}$/.test(text);
  const isDecimal = isAmbiguous ? last === (decimal ?? ".") : isOnly;
  const digits = text.replace(/[.,]/g, (sign, at: number) =>
    isDecimal && at === text.lastIndexOf(last) ? sign : "",
  );
  return digits.replace(",", ".");
}
