import type { Selector, SelectorKind } from "../contract.ts";
import { writeSelector } from "./selectors.ts";

/** What a selector is worth, 0..1: its kind's weight less what each doubt costs. Data alone, so that it can be sent to a page. */
export type SelectorWeights = {
  kinds: Readonly<Record<SelectorKind, number>>;
  /** Of a name or label that only stands next to its element. */
  guessed: Readonly<Partial<Record<SelectorKind, number>>>;
  /** No selector is worth less. */
  least: number;
  /** Costs of one that matches other elements too. */
  twin: number;
  /** Costs of an id that a program made up. */
  generated: number;
  /** Costs of CSS that counts siblings. */
  counted: number;
  /** Costs of a name or text of more than so many characters. */
  long: Readonly<{ over: number; costs: number }>;
  /** What of a name or text is seldom the same tomorrow; the first `pattern` that fits counts. */
  changing: readonly Readonly<{ what: string; pattern: string; costs: number }>[];
};

/** For pages; where the kinds of another device rank otherwise, its driver gives `kinds` of its own. */
export const pageWeights: SelectorWeights = {
  kinds: {
    testid: 1,
    role: 0.9,
    label: 0.8,
    placeholder: 0.75,
    id: 0.7,
    text: 0.6,
    css: 0.4,
    xpath: 0.3,
    native: 0.3,
  },
  guessed: { role: 0.65, label: 0.6 },
  least: 0.02,
  twin: 0.3,
  generated: 0.5,
  counted: 0.1,
  long: { over: 50, costs: 0.15 },
  changing: [
    { what: "a price", pattern: "[$€£¥]\\s?\\d|\\d\\s?[$€£¥]|\\d[.,]\\d\\d\\b", costs: 0.35 },
    { what: "a time", pattern: "\\b\\d{1,2}:\\d\\d", costs: 0.35 },
    {
      what: "a date",
      pattern: "\\b\\d{4}-\\d\\d-\\d\\d\\b|\\b\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}\\b",
      costs: 0.35,
    },
    { what: "a number", pattern: "\\d", costs: 0.2 },
  ],
};

/** One way to find an element again, before it is written as a selector. */
export type Candidate = {
  kind: SelectorKind;
  /** The value after `kind=`, before escaping; for a role its name. */
  value: string;
  role?: string;
  /** How many elements it matches. */
  count: number;
  score: number;
};

/** Weighs candidates. Sent to pages as source text: it refers to nothing outside itself but its constructor's argument. */
export class Ranking {
  private readonly changing: readonly { what: string; pattern: RegExp; costs: number }[];

  constructor(private readonly weights: SelectorWeights) {
    this.changing = weights.changing.map((one) => ({ ...one, pattern: new RegExp(one.pattern) }));
  }

  /** 0..1, in hundredths. */
  score({ kind, value, count }: Omit<Candidate, "score">, isGuessed = false): number {
    const { kinds, guessed, twin } = this.weights;
    const base = (isGuessed ? guessed[kind] : undefined) ?? kinds[kind];
    return this.rounded(base - this.volatility(kind, value) - (count > 1 ? twin : 0));
  }

  /** What is left of the score of a candidate that is alone in its place and has a twin elsewhere. */
  withTwin(score: number): number {
    return this.rounded(score - this.weights.twin);
  }

  /** What of a name or text is seldom the same tomorrow: "a price". */
  changingPart(value: string): { what: string; costs: number } | undefined {
    return this.changing.find(({ pattern }) => pattern.test(value));
  }

  /** Made up by a program, and so another one tomorrow. */
  isGenerated(id: string): boolean {
    if (/[0-9a-f]{8}-[0-9a-f]{4}|\d{3,}|^[:«_]?r?[:\w]{1,3}[:»]$/i.test(id)) return true;
    if (
      /^(ember|ui-id|mat-|cdk-|radix|headlessui|react-|mui-|yui|ext-|gwt-|ng-|__BVID|input-|field-)[\w:-]*\d/i.test(
        id,
      )
    )
      return true;
    return /(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{6,}$/i.test(id) && (id.match(/\d/g)?.length ?? 0) >= 2;
  }

  private volatility(kind: SelectorKind, value: string): number {
    const { generated, counted, long } = this.weights;
    if (kind === "testid" || kind === "id") return this.isGenerated(value) ? generated : 0;
    if (kind === "css") return value.includes(":nth") ? counted : 0;
    if (kind === "xpath" || kind === "native") return 0;
    return this.changingPart(value)?.costs ?? (value.length > long.over ? long.costs : 0);
  }

  private rounded(score: number): number {
    return Math.round(Math.max(this.weights.least, score) * 100) / 100;
  }
}

/** By the weights of pages. */
export const ranking = new Ranking(pageWeights);

/** The selector of a candidate; `elsewhere` is how many more elements it matches than its `count` says. */
export function toSelector({ kind, value, role, count, score }: Candidate, elsewhere = 0): Selector {
  const isTwin = count === 1 && elsewhere > 0;
  return {
    kind,
    selector: writeSelector(kind, value, role),
    unique: count === 1 && elsewhere === 0,
    score: isTwin ? ranking.withTwin(score) : score,
  };
}

/** The order in which selectors are offered: unique ones first, then by score. */
export const byWorth = (a: Selector, b: Selector): number =>
  Number(b.unique) - Number(a.unique) || b.score - a.score;
