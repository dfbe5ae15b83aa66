import { AgentError } from "../errors.ts";
import type { ToolCall, ToolResult, ToolSpec } from "../ports.ts";
import { listingOf, type Thing, type Topic, textOf, thingsIn } from "./listings.ts";
import { namedIn, nearIn } from "./names.ts";
import { type Period, periodIn } from "./times.ts";
import { isUnderstood, type Meaning, means, type Token, tokensOf } from "./words.ts";

export type OfflineGiven = {
  text: string;
  /** What the user answered to `needs`, oldest first. */
  answers?: readonly string[];
  /** The tools that may be called. */
  specs: readonly ToolSpec[];
  now: Date;
  /** How long a run is waited for. */
  timeoutMs: number;
  /** Throws when the run is interrupted. */
  call(use: ToolCall): Promise<ToolResult>;
};
/** `needs_input`: what was asked for did not happen. `needs`: a question; its answer comes back beside the same text. */
export type OfflineAnswer = {
  text: string;
  outcome: "done" | "needs_input" | "limit";
  needs?: { question: string; options: string[] };
};

/** Ends the work with an answer, from wherever that is found out. */
export class Settled extends Error {
  constructor(readonly answer: OfflineAnswer) {
    super(answer.text);
  }
}
/** Throws Settled: nothing was done, and why; with options it is a question. */
export function stop(text: string, options?: readonly string[]): never {
  const needs = options && { question: text, options: options.slice(0, 10) };
  throw new Settled({ text, outcome: "needs_input", ...(needs && { needs }) });
}

/** A request, read against what is there. */
export class Request {
  readonly tokens: readonly Token[];
  /** The tokens that are neither a name nor a time, as far as those were looked for. */
  rest: readonly Token[];
  /** The first word that is not mere politeness. */
  readonly lead: Token | undefined;
  private readonly answers: readonly Token[][];
  private readonly listed = new Map<Topic, Thing[]>();

  constructor(readonly given: OfflineGiven) {
    this.tokens = tokensOf(given.text);
    this.rest = this.tokens;
    this.answers = [...(given.answers ?? [])].reverse().map(tokensOf);
    this.lead = this.tokens.find(
      (token) => means(token, "question", "show", "run", "not") || !isUnderstood(token, ["small"]),
    );
  }

  says = (...meanings: Meaning[]): boolean => this.tokens.some((token) => means(token, ...meanings));
  answered = (meaning: Meaning): boolean => this.answers[0]?.some((token) => means(token, meaning)) === true;
  unknown = (meanings: readonly Meaning[]): readonly Token[] =>
    this.rest.filter((token) => !isUnderstood(token, meanings));

  /** Throws an AgentError when the tool fails. */
  async call(name: string, input: ToolCall["input"] = {}): Promise<ToolResult> {
    const result = await this.given.call({ name, input });
    if (!result.isError) return result;
    throw new AgentError(
      "TOOL_FAILED",
      `${name} failed. ${textOf(result)}`,
      "`labwright logs` may say more.",
    );
  }

  async all(...topics: readonly Topic[]): Promise<Thing[]> {
    for (const topic of topics.filter((one) => !this.listed.has(one))) {
      const input = topic === "device" ? {} : { max_tokens: 50_000 };
      this.listed.set(topic, thingsIn(topic, await this.call(listingOf(topic).tool, input)));
    }
    return topics.flatMap((topic) => this.listed.get(topic) ?? []);
  }

  /** The things that the request names, by group. */
  async find(...groups: readonly (readonly Topic[])[]): Promise<Thing[][]> {
    const lists: Thing[][] = [];
    for (const group of groups) lists.push(await this.all(...group));
    const { found, taken } = namedIn(this.rest, lists);
    this.rest = this.rest.filter((token) => !taken.includes(token));
    return found;
  }

  /** The only one, or the one that an answer names. Throws Settled, with a question, between several. */
  one(things: readonly Thing[]): Thing | undefined {
    const [only, ...others] = things;
    return others.length === 0 ? only : (this.chosen(things) ?? this.ask(things));
  }

  /** The one that was found; else the one that an answer names; else a question where a word may be short for a name. */
  async pick(found: readonly Thing[], topics: readonly Topic[], unknown: readonly Token[]) {
    if (found.length > 0) return this.one(found);
    if (unknown.length + this.answers.length === 0) return undefined;
    const things = await this.all(...topics);
    const near = nearIn(unknown, things);
    const chosen = this.chosen(things);
    if (!chosen && near.length > 0) this.ask(near);
    if (chosen) this.rest = this.rest.filter((token) => nearIn([token], [chosen]).length === 0);
    return chosen;
  }

  private chosen(things: readonly Thing[]): Thing | undefined {
    const named = this.answers.map((answer) => namedIn(answer, [things]).found[0] ?? []);
    return named.find(({ length }) => length === 1)?.[0];
  }

  /** Throws Settled, with a question. */
  ask(things: readonly Thing[], unknown: readonly Token[] = []): never {
    const nouns = [...new Set(things.map(({ topic }) => listingOf(topic).noun))].join(" or ");
    if (things.length === 0) stop(`${notUnderstood(unknown)} There is nothing of the kind.`.trim());
    const more = things.length > 10 ? ` ${things.length - 10} more are not shown.` : "";
    const asked = `${notUnderstood(unknown)} Which ${nouns} is meant?${more}`.trim();
    return stop(
      asked,
      things.map(({ value }) => value),
    );
  }

  /** The time that the request says beside its names. */
  time(): Period | undefined {
    const isFree = (at: number) => this.rest.some(({ from, to }) => at >= from && at < to);
    const text = this.given.text.replace(/[^\s'’]/g, (letter, at: number) => (isFree(at) ? letter : "_"));
    const period = periodIn(text, this.given.now);
    if (period) this.rest = this.rest.filter(({ from, to }) => to <= period.from || from >= period.to);
    return period;
  }
}

export const notUnderstood = (tokens: readonly Token[]): string =>
  tokens.length === 0 ? "" : `Not understood: ${tokens.map(({ raw }) => `“${raw}”`).join(", ")}.`;
