import type { Skill } from "@labwright/skills";
import type { ToolCall, ToolResult, ToolSpec } from "../ports.ts";
import { executionIdsIn, type Kind, lookupOf, readThings, type Things } from "./lookups.ts";
import { type Mentions, mentionsIn, type Thing } from "./names.ts";
import { maySayWhere, type Token, tokensOf, wishesIn } from "./words.ts";

export type OfflineGiven = {
  text: string;
  /** What the user answered to `needs`, oldest first. */
  answers?: readonly string[];
  skill: Skill;
  /** The skill's tools, and no others. */
  specs: readonly ToolSpec[];
  /** Calls one of `specs` or of `offlineTools`. Throws when the run is interrupted. */
  call(use: ToolCall): Promise<ToolResult>;
};

/** `needs`: a question is open; its answer comes back in `answers`, beside the same text. */
export type OfflineAnswer = { text: string; needs?: { question: string; options: string[] } };

/** Ends the work with an answer, from wherever that is found out. */
export class Settled extends Error {
  constructor(readonly answer: OfflineAnswer) {
    super(answer.text);
  }
}

/** A request, read against what is there. A listing is read when it is first needed, once. */
export type Request = {
  skill: Skill;
  specs: readonly ToolSpec[];
  /** What is asked, by the words that are no name, so far as names were looked for. */
  wishes(): ReadonlySet<string>;
  /** The tokens of the newest answer. */
  answer(): readonly Token[];
  /** The tokens of the text that are no name, so far as names were looked for. */
  rest(): readonly Token[];
  /** All of that kind that are named in full, else the one that is named in short. */
  findAll(kind: Kind): Promise<readonly string[]>;
  /** The one that is named, or undefined. Throws Settled, with a question, when two are. */
  find(kind: Kind): Promise<string | undefined>;
  /** The one of that kind that the rest names in full. */
  findInRest(kind: Kind): Promise<string | undefined>;
  /**
   * The one that is named; or the only one that there is, where nothing else could be its name. `among` says which may be.
   * Throws Settled, with a question.
   */
  need(kind: Kind, among?: readonly string[]): Promise<string>;
  /** The id of a run that the text has. */
  executionId(): Promise<string | undefined>;
  /** Everything of that kind. */
  all(kind: Kind): Promise<Things>;
  call(use: ToolCall): Promise<ToolResult>;
};

/** Most options of a question. */
const maxOptions = 10;

export function readRequest(given: OfflineGiven): Request {
  const tokens = tokensOf(given.text);
  const answers = [...(given.answers ?? [])].reverse().map(tokensOf);
  const listings = new Map<Kind, Promise<Things>>();
  const named = new Set<Token>();
  const rest = () => tokens.filter((token) => !named.has(token));

  function all(kind: Kind): Promise<Things> {
    const known = listings.get(kind) ?? listed(kind, given, () => find("app"));
    listings.set(kind, known);
    return known;
  }
  async function findAll(kind: Kind): Promise<readonly string[]> {
    const { things, more } = await all(kind);
    const mentions = mentionsIn(tokens, things);
    const { found, isOpen } = settle(mentions, answers, more);
    const values = found.map(({ value }) => value);
    if (isOpen) throw whichOf(kind, values);
    for (const token of tokens) if (!mentions.rest.includes(token)) named.add(token);
    return values;
  }
  async function find(kind: Kind): Promise<string | undefined> {
    const [value, ...others] = await findAll(kind);
    if (value === undefined || others.length === 0) return value;
    throw whichOf(kind, [value, ...others]);
  }
  async function findInRest(kind: Kind): Promise<string | undefined> {
    const { sure } = mentionsIn(rest(), (await all(kind)).things);
    return sure.length > 1 ? find(kind) : sure[0]?.value;
  }
  async function need(kind: Kind, among?: readonly string[]): Promise<string> {
    const value = await find(kind);
    if (value !== undefined) return value;
    const { things } = await all(kind);
    const possible = things.filter((thing) => among === undefined || among.includes(thing.value));
    const [chosen] = answers
      .map((one) => mentionsIn(one, possible).sure)
      .filter(({ length }) => length === 1);
    const [only, ...others] = chosen ?? possible;
    if (only && others.length === 0 && (chosen || isMeantAlone(kind, rest()))) return only.value;
    throw whichOf(
      kind,
      possible.map((thing) => thing.value),
    );
  }
  return {
    ...{ skill: given.skill, specs: given.specs, findAll, find, findInRest, need, all, rest },
    call: (use) => given.call(use),
    executionId: () => executionIdOf(given),
    wishes: () => wishesIn(rest()),
    answer: () => answers[0] ?? [],
  };
}

async function listed(
  kind: Kind,
  { call }: OfflineGiven,
  findApp: () => Promise<string | undefined>,
): Promise<Things> {
  const { tool, input, ofApp } = lookupOf(kind);
  const app = ofApp === true ? await findApp() : undefined;
  if (ofApp === true && app === undefined) return { things: [], rows: new Map(), more: false };
  const of = app === undefined ? {} : { userinterface_name: app };
  const result = await call({ name: tool, input: { ...input, ...of } });
  if (result.isError) throw new Settled({ text: `${tool} failed. ${textOf(result)}` });
  return readThings(kind, result.structured);
}

async function executionIdOf({ text, call }: OfflineGiven): Promise<string | undefined> {
  const ids = executionIdsIn(text);
  const sure = ids.find((id) => /\d/.test(id));
  if (sure !== undefined || ids.length === 0) return sure;
  // One id in fifty has no digit and looks like a word: it is one when a run has it.
  const past = { name: lookupOf("execution").tool, input: { max_tokens: 50_000 } };
  const { rows } = readThings("execution", (await call(past)).structured ?? { executions: [] });
  return ids.find((id) => rows.has(id));
}

/**
 * The only run is meant by "the run", the only device where nothing else may be its name; the only script never: running
 * something else than what was asked for is worse than a question.
 */
const isMeantAlone = (kind: Kind, rest: readonly Token[]): boolean =>
  kind === "execution" || (kind === "device" && !rest.some(maySayWhere));

/** The text decides; what it leaves open is for the answers to decide, the newest first. */
function settle(
  { sure, short, isDoubtful }: Mentions,
  answers: readonly Token[][],
  more: boolean,
): { found: readonly Thing[]; isOpen: boolean } {
  if (sure.length === 1) return { found: sure, isOpen: false };
  if (short.length === 1 && !isDoubtful && !more) return { found: short, isOpen: false };
  const open = [...sure, ...short];
  const chosen = answers.map((answer) => mentionsIn(answer, open).sure).find(({ length }) => length === 1);
  return chosen === undefined ? { found: open, isOpen: short.length > 0 } : { found: chosen, isOpen: false };
}

/** A question with what there is to choose from, or that there is nothing. */
function whichOf(kind: Kind, options: readonly string[]): Settled {
  const { noun } = lookupOf(kind);
  if (options.length === 0) return new Settled({ text: `There is no ${noun} for it.` });
  const question = options.length === 1 ? `Is the ${noun} ${options[0]} meant?` : `Which ${noun} is meant?`;
  const shown = options.slice(0, maxOptions);
  const more = options.length - shown.length;
  const lines = [question, ...shown.map((option) => `- ${option}`), ...(more > 0 ? [`${more} more`] : [])];
  return new Settled({ text: lines.join("\n"), needs: { question, options: shown } });
}

/** The text of a result, as the server made it of its typed result. */
export const textOf = ({ parts }: ToolResult): string =>
  parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
