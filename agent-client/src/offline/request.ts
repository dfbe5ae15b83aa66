import { AgentError } from "../errors.ts";
import type { ToolCall, ToolResult } from "../ports.ts";
import type { Thing, Topic } from "./listings.ts";
import { listingOf, namedTopics, runnableTopics, textOf, thingsIn, topics } from "./listings.ts";
import { type Period, periodIn } from "./times.ts";
import { keyOf, type Meaning, means, type Token, tokensOf } from "./words.ts";

export type OfflineGiven = {
  text: string;
  now: Date;
  /** The time to wait for the end of a run. */
  timeoutMs: number;
  /** Names of the skills that a model would choose among, the most likely first. */
  candidates: readonly string[];
  /** Throws when the run is interrupted. */
  call(use: ToolCall): Promise<ToolResult>;
};
/** `needs_input`: the request was not done, or not understood in full. `needs`: an open question; each option is a request. */
export type OfflineAnswer = {
  text: string;
  outcome: "done" | "needs_input" | "limit";
  needs?: { question: string; options: string[] };
};

/** Ends the request with an answer. */
export class Settled extends Error {
  constructor(readonly answer: OfflineAnswer) {
    super(answer.text);
  }
}
const maxOptions = 10;
/** Throws Settled: nothing was done. With options, which are requests, the text is a question. */
export function stop(text: string, options: readonly string[] = []): never {
  const isCut = options.length > maxOptions;
  const question = isCut ? `${text} The first ${maxOptions} of ${options.length}:` : text;
  const needs = { question, options: options.slice(0, maxOptions) };
  throw new Settled({ text, outcome: "needs_input", ...(options.length > 0 && { needs }) });
}
/** Names the words that were not understood, before the text. */
export function notUnderstood(words: readonly Token[], text = ""): string {
  const list = words.map(({ raw }) => `“${raw}”`).join(", ");
  return words.length === 0 ? text : `Not understood: ${list}. ${text}`.trimEnd();
}

type Name = { thing: Thing; tokens: readonly Token[] };
const maxNameTokens = 20;

/** A request, read against the names of what there is. */
export class Request {
  readonly tokens: readonly Token[];
  /** The words that are not part of a name. */
  private rest: readonly Token[];
  private names: readonly Name[] = [];
  private readonly listed = new Map<Topic, Thing[]>();
  period: Period | undefined;

  constructor(readonly given: OfflineGiven) {
    this.tokens = tokensOf(given.text);
    this.rest = this.tokens;
  }

  /** Finds the names of the request, then its time in the other words. */
  async read(): Promise<void> {
    if (this.tokens.every((token) => means(token))) return;
    this.names = namesIn(this.tokens, await this.all(...namedTopics));
    const named = new Set(this.names.flatMap(({ tokens }) => tokens));
    this.rest = this.tokens.filter((token) => !named.has(token));
    const hide = (text: string, { from, to }: Token) =>
      text.slice(0, from) + "_".repeat(to - from) + text.slice(to);
    this.period = periodIn([...named].reduce(hide, this.given.text), this.given.now);
  }

  /** The things of these topics that the request names. */
  found = (wanted = namedTopics): Thing[] => [
    ...new Set(this.names.map(({ thing }) => thing).filter(({ topic }) => wanted.includes(topic))),
  ];

  /** The topics whose nouns the request says, in its order. */
  topics = (): Topic[] => [
    ...new Set(this.rest.flatMap((token) => topics.filter((topic) => means(token, [topic])))),
  ];

  /** The text without the app and the device that it ends with. */
  withoutPlaces(): string {
    const places = this.names.filter(({ thing: { topic } }) => topic === "device" || topic === "app");
    return places.toReversed().reduce((text, { tokens: [first, ...others] }) => {
      const last = others.at(-1) ?? first;
      if (!first || !last || text.slice(last.to).trim() !== "") return text;
      return text.slice(0, first.from).replace(/\s+(?:on|in|of|at|with)(?: the)?(?: app| device)?\s*$/iu, "");
    }, this.given.text);
  }

  /** Scripts, test cases or both: what the request speaks of. */
  runnables(): readonly Topic[] {
    const said = this.topics().filter((topic) => runnableTopics.includes(topic));
    return said.length > 0 ? said : runnableTopics;
  }

  says = (...meanings: readonly Meaning[]): boolean => this.rest.some((token) => means(token, meanings));

  /** True when the first word that is more than politeness has one of the meanings. */
  leads(...meanings: readonly Meaning[]): boolean {
    const lead = this.tokens.find((token) => !means(token, ["small", "vague", "greeting"]));
    return lead !== undefined && this.rest.includes(lead) && means(lead, meanings);
  }

  /** The words that an answer about these meanings, things and time leaves out. */
  leftOver(meanings: readonly Meaning[], things: readonly (Thing | undefined)[], period?: Period): Token[] {
    const used = this.names.flatMap(({ thing, tokens }) => (things.includes(thing) ? tokens : []));
    const isInPeriod = ({ from, to }: Token) => period !== undefined && from < period.to && to > period.from;
    return this.tokens.filter(
      (token) => !used.includes(token) && !means(token, meanings) && !isInPeriod(token),
    );
  }

  /** Throws an AgentError when the tool fails. */
  async call(name: string, input: ToolCall["input"] = {}): Promise<ToolResult> {
    const result = await this.given.call({ name, input });
    if (!result.isError) return result;
    const message = `${name} failed. ${textOf(result)}`;
    throw new AgentError("TOOL_FAILED", message, "`labwright logs` may say more.");
  }

  /** Everything that there is of these topics. */
  async all(...wanted: readonly Topic[]): Promise<Thing[]> {
    for (const topic of wanted.filter((one) => !this.listed.has(one))) {
      const input = topic === "device" ? {} : { max_tokens: 50_000 };
      this.listed.set(topic, thingsIn(topic, await this.call(listingOf(topic)[0], input)));
    }
    return wanted.flatMap((topic) => this.listed.get(topic) ?? []);
  }
}

/**
 * The things that tokens name in full. Of two names the longer counts; of two things with one name, that of the earlier
 * topic. Scripts and test cases are equal. A name of plain words, such as "run", needs quotes.
 */
function namesIn(tokens: readonly Token[], things: readonly Thing[]): Name[] {
  const names = tokens.flatMap((_, from) =>
    tokens.slice(from, from + maxNameTokens).flatMap((_, more) => {
      const span = tokens.slice(from, from + more + 1);
      const key = span.map(({ words }) => words.join(" ")).join(" ");
      const isPlain = span.every((token) => means(token));
      return things
        .filter(({ keys }) => !isPlain && keys.includes(key))
        .map((thing) => ({ thing, tokens: span }));
    }),
  );
  const rank = ({ thing: { topic } }: Name) => namedTopics.indexOf(topic === "script" ? "testcase" : topic);
  const isBetter = (other: Name, name: Name) =>
    name.tokens.every((token) => other.tokens.includes(token)) &&
    (other.tokens.length > name.tokens.length || rank(other) < rank(name));
  return names.filter((name) => !names.some((other) => isBetter(other, name)));
}

/** The request of the last message: an option of the question before it, when the message is a name in only that one. */
export function requestIn(messages: readonly { role: string; text: string }[]): string {
  const text = messages.at(-1)?.text ?? "";
  const question = messages.at(-2);
  if (question?.role !== "assistant") return text;
  const options = [...question.text.matchAll(/^\d+\. (.*)$/gm)].map(([, option = ""]) => option);
  const isName = ({ raw }: Token) =>
    [raw, raw.replace(/^.*\//, "")].some((name) => keyOf(name) === keyOf(text));
  const [option, ...others] = options.filter((one) => tokensOf(one).some(isName));
  return option === undefined || others.length > 0 ? text : option;
}
