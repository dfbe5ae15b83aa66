import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { concealed } from "../../elements/concealed.ts";
import { nearest } from "../../elements/nearest.ts";
import { quoted, shortened } from "../../elements/quoted.ts";
import { absent, inconclusive, ofSubject } from "../../elements/readings.ts";
import { writeSelector } from "../../elements/selectors.ts";
import { DeviceError } from "../../errors.ts";
import { type CheckSession, testIdAttributeOf } from "../browser/session.ts";
import type { Audit, Finding } from "../page/audit.ts";
import { askAllFrames, type FrameAnswer, isFrameSeen } from "../page/elementsInFrames.ts";
import { SilentFrames } from "./lookup.ts";

/** Those of axe-core, from the least to the worst. */
const impacts = ["minor", "moderate", "serious", "critical"] as const;
const RULES_SHOWN = 8;
const ELEMENTS_SHOWN = 3;

const names = z.array(z.string().min(1).max(100)).max(100).default([]);
const css = z.string().min(1).max(1_000);

/** Violations of accessibility rules, by axe-core, in all frames of the page. */
export function accessible(session: CheckSession): Check {
  return defineCheck({
    name: "accessible",
    description:
      "axe-core finds no accessibility violation of this impact or worse; each is named with its elements and how to fix it",
    input: z
      .strictObject({
        impact: z.enum(impacts).default("serious"),
        tags: names.describe("Only rules with one of these tags, such as wcag2a, wcag2aa, best-practice."),
        rules: names.describe("Only these rules, such as color-contrast."),
        ignore: names.describe("Rules whose violations are known."),
        within: css.optional().describe("CSS of the part to check; else the whole page."),
        exclude: z.array(css).max(20).default([]).describe("CSS of parts to leave out."),
      })
      .refine(({ rules, tags }) => rules.length === 0 || tags.length === 0, "Give rules or tags, not both."),
    judges: ofSubject,
    title: (_, { within }) => `${within === undefined ? "the page" : String(within)} is accessible`,
    async read({ impact, ignore, ...wanted }, signal) {
      // 150 KB, for this check alone.
      const { auditFrame } = await import("../page/audit.ts");
      const options = { ...wanted, testIdAttribute: testIdAttributeOf(session) };
      const { answers, silent } = await askAllFrames(session.page(), signal, (frame) =>
        auditFrame(frame, options, signal),
      );
      const place = wanted.within === undefined ? "the page" : quoted(wanted.within);
      const expected = `${place} has no accessibility violation of impact ${impact}${impact === "critical" ? "" : " or worse"}`;
      return readingOf(await seen(answers, signal), { expected, silent, impact, ignore });
    },
  });
}

/** Without frames that no user can see. */
async function seen(answers: readonly FrameAnswer<Audit>[], signal: AbortSignal): Promise<readonly Audit[]> {
  const shown = await Promise.all(answers.map(({ frame }) => isFrameSeen(frame, signal)));
  return answers.filter((_, at) => shown[at]).map(({ answer }) => answer);
}

type Asked = {
  expected: string;
  silent: number;
  impact: (typeof impacts)[number];
  ignore: readonly string[];
};

function readingOf(audits: readonly Audit[], { expected, silent, impact, ignore }: Asked): Reading {
  for (const one of audits) if ("unknown" in one) throw unknownNames(one);
  const failure = audits.find((one) => "failed" in one);
  if (failure) return inconclusive(expected, `axe-core failed: ${shortened(failure.failed, 300)}`);
  const done = audits.filter((one) => "violations" in one);
  const all = merged(done.flatMap(({ violations }) => violations)).filter(
    ({ rule }) => !ignore.includes(rule),
  );
  const worst = all.filter((one) => rank(one) >= impacts.indexOf(impact));
  if (worst.length > 0) return { holds: false, expected, actual: violationsText(worst) };
  if (silent > 0) throw new SilentFrames(silent);
  if (done.length === 0) return absent(expected, "nothing on the page matches within");
  if (done.every(({ rules }) => rules === 0)) return inconclusive(expected, "no rule was applied");
  const unsure = [...new Set(done.flatMap((one) => one.unsure))];
  const notes = [
    all.length > 0 && `of less impact: ${all.map(({ rule }) => rule).join(", ")}`,
    unsure.length > 0 && `for a person to judge: ${unsure.join(", ")}`,
  ].filter(Boolean);
  return { holds: true, expected, actual: ["none", ...notes].join("; ") };
}

const rank = ({ impact }: Finding): number => impacts.indexOf(impact);

const unknownNames = ({ unknown, known }: { unknown: string[]; known: string[] }) => {
  const near = unknown.flatMap((name) => nearest(name, known, 3));
  const hint =
    near.length > 0 ? `The nearest: ${[...new Set(near)].join(", ")}.` : `Known: ${known.join(", ")}.`;
  return new DeviceError(
    "INVALID_PARAMS",
    `axe-core does not know ${unknown.map((one) => quoted(one)).join(", ")}. ${hint}`,
  );
};

/** One finding for each rule, over all frames; the worst first. */
function merged(findings: readonly Finding[]): Finding[] {
  const byRule = new Map<string, Finding>();
  for (const one of findings) {
    const before = byRule.get(one.rule);
    byRule.set(
      one.rule,
      before
        ? { ...before, count: before.count + one.count, elements: [...before.elements, ...one.elements] }
        : one,
    );
  }
  return [...byRule.values()].sort((a, b) => rank(b) - rank(a) || b.count - a.count);
}

function violationsText(findings: readonly Finding[]): string {
  const shown = findings.slice(0, RULES_SHOWN).map(findingText);
  const more = findings.length > shown.length ? [`… ${findings.length - shown.length} more rules`] : [];
  const count = `${findings.length} ${findings.length === 1 ? "rule is" : "rules are"} broken`;
  return concealed(`${count}: ${[...shown, ...more].join(" | ")}`);
}

function findingText({ rule, impact, help, count, elements }: Finding): string {
  const named = elements.slice(0, ELEMENTS_SHOWN).map(elementText).join(", ");
  const more = count > ELEMENTS_SHOWN ? ` and ${count - ELEMENTS_SHOWN} more` : "";
  const fix = elements[0]?.fix ?? "";
  return `${rule} (${impact}): ${help}. ${named}${more}. ${fix}`.trim();
}

/** The best selector that matches this element alone, else axe-core's CSS. */
function elementText({ seen, css }: Finding["elements"][number]): string {
  const best = seen?.candidates.find(({ count }) => count === 1);
  return shortened(best ? writeSelector(best.kind, best.value, best.role) : `css=${css}`, 200);
}
