import type { BetaMessageStream } from "@anthropic-ai/sdk/lib/BetaMessageStream";
import type { BetaToolRunner } from "@anthropic-ai/sdk/lib/tools/BetaToolRunner";
import type { BetaMessage } from "@anthropic-ai/sdk/resources/beta";
import { atMost } from "../clock.ts";
import { AgentError } from "../errors.ts";
import type { Limit, SessionEnded, Usage } from "../events.ts";
import { failureOf, isForeignThinking, type ModelFailure } from "../model/failure.ts";
import type { ModelEndpoint } from "../model/models.ts";
import { countOf, type Prefix, requestOf, summaryOf, thinkingOf } from "../model/request.ts";
import { addSpent, cacheLines, costLine, inputOf, nothingSpent, spentOn, usageOf } from "../model/usage.ts";
import { openToolset, readingMembers } from "../toolsets/index.ts";
import { closed, createInputCheck, type Message, namesIn, textOf, toolUsesOf } from "./history.ts";
import { estimateOf, hasTooManyPictures, longFrom, parted, shortened } from "./shorten.ts";
import { runnableTools, type ToolDeps, toolCaller } from "./tools.ts";

export type RunLimits = {
  turns: number;
  /** Of all requests of the run, in and out. */
  tokens: number;
  cost_usd: number;
  timeout_ms: number;
  /** Of one reply. */
  max_output_tokens: number;
};

export type RunOptions = Prefix & {
  /** In order: the next goes on with the same history when one fails. */
  models: readonly ModelEndpoint[];
  /** Ends with the user's message. */
  history: readonly Message[];
  limits: RunLimits;
  /** Stores what came to the history; nothing goes on before it is stored. */
  save(messages: readonly Message[]): Promise<void>;
  /** Stores messages that stand for the whole history from now on, and gives what is sent in its place. */
  restart(messages: readonly Message[]): Promise<Prefix & { history: readonly Message[] }>;
} & Omit<ToolDeps, "isBroken">;

/** `unsaved`: the end of the history, for the caller to store with how the run ended. */
export type RunResult = { ended: SessionEnded; history: Message[]; unsaved: Message[] };

type End = Pick<SessionEnded, "outcome"> & Partial<Pick<SessionEnded, "limit" | "error">>;

/** The end of a run that an error stopped. */
export function failedBy(error: unknown): End {
  const { code, message, hint } =
    error instanceof AgentError
      ? error
      : new AgentError("INTERNAL", String(error), "`labwright logs` may say more.");
  return { outcome: "failed", error: { code, message, hint } };
}

/** Replies that may break off one after the other before a model is given up, and replies that only call what is not there. */
const maxBroken = 3;

/**
 * Model, tools, model ... until the model stops or a limit does: the SDK's tool runner, with what it leaves to us. Rejects
 * only when `save` or `restart` does: all else is an end by name, with a history that another run can go on with.
 */
export async function runAgent(options: RunOptions): Promise<RunResult> {
  const run = new Run(options);
  return run.finish(await run.throughModels());
}

class Run {
  private history: Message[];
  private prefix: Prefix;
  private saved: number;
  /** Our own count of the next request's input. */
  private estimated: number | undefined;
  private turns = 0;
  private spent = nothingSpent;
  private text = "";
  /** Set when the API took thinking of this conversation for another one's. */
  private dropsForeign = false;
  private readonly inputs = createInputCheck();
  private readonly start: number;
  private readonly signal: AbortSignal;

  constructor(private readonly options: RunOptions) {
    this.history = [...options.history];
    this.prefix = options;
    this.saved = options.history.length;
    this.start = options.now();
    this.signal = atMost(options.signal, options.limits.timeout_ms);
  }

  async throughModels(): Promise<End> {
    const { models, emit } = this.options;
    let end = failedBy(noModel);
    for (const [at, endpoint] of models.entries()) {
      const stop = await this.withModel(endpoint);
      if ("outcome" in stop) return stop;
      end = stop.code === "CONTEXT_FULL" ? contextFull : failedBy(stop);
      const next = models[at + 1];
      if (next)
        emit({ type: "progress", kind: "model", text: `${stop.message} Going on with ${next.model}.` });
    }
    return end;
  }

  /** The run's end, or the failure that another model may not have. */
  private async withModel(endpoint: ModelEndpoint): Promise<End | AgentError> {
    for (let broken = 0; ; ) {
      const before = this.turns;
      const stop = await this.talk(endpoint).catch((error: unknown) => this.stopBy(error, endpoint));
      if ("outcome" in stop) return stop;
      broken = this.turns > before ? 1 : broken + 1;
      if (!stop.again || broken >= maxBroken) return stop.error;
      this.options.emit({ type: "progress", kind: "model", text: `${stop.error.message} Asking again.` });
    }
  }

  private stopBy(error: unknown, endpoint: ModelEndpoint): End | ModelFailure {
    if (error instanceof SaveFailed) throw error.cause;
    if (this.options.signal.aborted) return { outcome: "cancelled" };
    if (this.signal.aborted) return { outcome: "limit", limit: "time" };
    const failure = failureOf(error, endpoint.model);
    if (failure.again || this.dropsForeign || !isForeignThinking(error)) return failure;
    // Once in a run, and only where a request may say so.
    this.dropsForeign = thinkingOf(endpoint).thinking?.type === "adaptive";
    return { ...failure, again: this.dropsForeign };
  }

  /** Turns with one model until it stops; throws what the SDK throws. */
  private async talk(endpoint: ModelEndpoint): Promise<End> {
    if (endpoint.facts.price === undefined && Number.isFinite(this.options.limits.cost_usd))
      throw unpriced(endpoint.model);
    if (await this.beginsLong(endpoint)) await this.shorten(endpoint);
    let end: End | "shortened" = "shortened";
    while (end === "shortened") end = await this.inSegment(endpoint);
    return end;
  }

  /** Turns until the run ends or its history was shortened. */
  private async inSegment(endpoint: ModelEndpoint): Promise<End | "shortened"> {
    const runner = this.runnerOf(endpoint);
    try {
      return await this.follow(runner, endpoint);
    } catch (error) {
      if (error instanceof SaveFailed) throw error;
      // What tools answered since the last reply is known, whatever became of the request that sent it.
      if (runner.params.messages.length > this.history.length) await this.keep(runner.params.messages);
      const isFull = failureOf(error, endpoint.model).error.code === "CONTEXT_FULL";
      if (isFull && (await this.shorten(endpoint, { asks: false }))) return "shortened";
      throw error;
    }
  }

  private requestOf(endpoint: ModelEndpoint) {
    const { max_output_tokens: maxTokens } = this.options.limits;
    return requestOf(endpoint, this.prefix, { maxTokens, dropsForeign: this.dropsForeign });
  }

  private runnerOf(endpoint: ModelEndpoint): BetaToolRunner<true> {
    const { options, signal, prefix } = this;
    const { specs, inline, toolset } = prefix;
    const called = [...(inline ?? specs), ...(toolset?.specs ?? [])];
    const call = toolCaller({ ...options, specs: called, signal, isBroken: this.inputs.isBroken });
    const runner = endpoint.client.beta.messages.toolRunner(
      {
        ...this.requestOf(endpoint),
        tools: [...runnableTools(specs, call), ...(toolset ? [openToolset(toolset, call)] : [])],
        messages: this.history,
        stream: true,
        thread: false,
      },
      { signal },
    );
    if (!inline) return runner;
    // What is there already is taken away first; the runner sends the changes with its next request.
    runner.removeTools(...namesIn(this.history, specs));
    runner.addTools(...runnableTools(inline, call));
    return runner;
  }

  /** Whether the history is too long to begin with: by our own count, and where that says so by the API's. */
  private async beginsLong(endpoint: ModelEndpoint): Promise<boolean> {
    const { history: messages, signal } = this;
    const { facts } = endpoint;
    const { system, specs, inline } = this.prefix;
    this.estimated = estimateOf([system, specs, inline, messages], facts).tokens;
    if (hasTooManyPictures(messages, facts)) return true;
    if (this.estimated < longFrom(facts)) return false;
    const counted = await countOf({ endpoint, request: this.requestOf(endpoint), messages, signal });
    return (counted ?? this.estimated) >= longFrom(facts);
  }

  /** Begins a segment with what must be known of the history. False, and all as it was, when nothing more can leave. */
  private async shorten(
    endpoint: ModelEndpoint,
    { asks = endpoint.facts.compaction } = {},
  ): Promise<boolean> {
    const { history, signal, options } = this;
    const { facts } = endpoint;
    const tools = [...this.prefix.specs, ...(this.prefix.inline ?? [])];
    const own = tools.filter(({ readOnly }) => readOnly).map(({ name }) => name);
    const reads = new Set([...own, ...readingMembers]);
    const plain = shortened(history, { facts, reads });
    if (!plain) return false;
    const summary = asks ? await this.summaryOf(parted(history).head, endpoint) : undefined;
    signal.throwIfAborted();
    const fewer = shortened(history, { facts, reads, summary }) ?? plain;
    const { history: kept, ...prefix } = await options.restart(fewer).catch(saveFailed);
    this.prefix = prefix;
    this.history = [...kept];
    this.saved = kept.length;
    return true;
  }

  private async summaryOf(messages: Message[], endpoint: ModelEndpoint): Promise<string | undefined> {
    if (messages.length === 0) return undefined;
    const request = this.requestOf(endpoint);
    const found = await summaryOf({ endpoint, request, messages, signal: this.signal });
    if (found) this.pay("summary", found.usage, endpoint);
    return found?.text;
  }

  private async follow(runner: BetaToolRunner<true>, endpoint: ModelEndpoint): Promise<End | "shortened"> {
    let strangers = 0;
    for await (const stream of runner) {
      const reply = await this.hear(stream, runner);
      const used = this.account(reply, endpoint);
      const isFull = reply.stop_reason === "model_context_window_exceeded";
      if (isFull && (await this.shorten(endpoint, { asks: false }))) return "shortened";
      this.history = answered([...runner.params.messages, ...saidIn(reply)]);
      const end = this.endOf(reply);
      if (end) return end;
      await this.keep(this.history);
      strangers = this.callsStrangers() ? strangers + 1 : 0;
      if (strangers === maxBroken) throw weak(endpoint.model);
      if (await this.shortenAfter(used, runner, endpoint)) return "shortened";
    }
    return { outcome: "done" };
  }

  private async hear(stream: BetaMessageStream, runner: BetaToolRunner<true>): Promise<BetaMessage> {
    // It streams already, and what listens only after its end would wait for ever: it listens before anything is stored.
    const events = stream[Symbol.asyncIterator]();
    await this.keep(runner.params.messages);
    this.signal.throwIfAborted();
    for await (const event of { [Symbol.asyncIterator]: () => events }) {
      this.inputs.see(event);
      // Pieces as they come; whole texts are sent with the reply.
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        this.options.emit({ type: "message", text: event.delta.text, partial: true });
    }
    return stream.finalMessage();
  }

  /** Where the next request would be too long. The calls of the last reply are done first; the runner does none twice. */
  private async shortenAfter(
    used: number,
    runner: BetaToolRunner<true>,
    endpoint: ModelEndpoint,
  ): Promise<boolean> {
    const { facts } = endpoint;
    if (used < longFrom(facts) && !hasTooManyPictures(this.history, facts)) return false;
    const results = await runner.generateToolResponse();
    if (results) await this.keep([...this.history, results]);
    return this.shorten(endpoint);
  }

  /** Emits what a reply says and cost. Returns its tokens, in and out: the next request has at least as many. */
  private account(reply: BetaMessage, endpoint: ModelEndpoint): number {
    const { emit } = this.options;
    this.turns += 1;
    for (const block of reply.content) {
      if (block.type === "thinking" && block.thinking) emit({ type: "thinking", text: block.thinking });
      if (block.type === "text" && block.text) emit({ type: "message", text: block.text });
    }
    this.text = textOf({ role: "assistant", content: reply.content }) || this.text;
    const usage = usageOf(reply.usage);
    for (const line of cacheLines(usage, endpoint.facts.price))
      emit({ type: "progress", kind: "cache", text: line });
    this.pay(`turn ${this.turns}`, usage, endpoint, this.estimated);
    this.estimated = undefined;
    return inputOf(usage) + usage.output_tokens;
  }

  private pay(what: string, usage: Usage, { model, facts }: ModelEndpoint, estimated?: number): void {
    const spent = spentOn(usage, facts.price);
    this.spent = addSpent(this.spent, spent);
    const text = costLine(`${what}, ${model}`, spent, estimated);
    this.options.emit({ type: "progress", kind: "cost", text });
  }

  /** Undefined while the runner is to go on. */
  private endOf({ stop_reason, content }: BetaMessage): End | undefined {
    if (stop_reason === "refusal") return { outcome: "refused" };
    if (stop_reason === "max_tokens") return { outcome: "limit", limit: "output_tokens" };
    if (stop_reason === "model_context_window_exceeded") return contextFull;
    if (stop_reason === "pause_turn" || content.some(({ type }) => type === "tool_use"))
      return this.reached();
    const isSilent = content.every(({ type }) => type === "thinking" || type === "redacted_thinking");
    return isSilent ? failedBy(nothingSaid) : { outcome: "done" };
  }

  private reached(): End | undefined {
    const { limits } = this.options;
    const { usage, cost_usd = 0 } = this.spent;
    const reached: [Limit, boolean][] = [
      ["turns", this.turns >= limits.turns],
      ["tokens", inputOf(usage) + usage.output_tokens >= limits.tokens],
      ["cost", cost_usd >= limits.cost_usd],
    ];
    const [limit] = reached.find(([, isReached]) => isReached) ?? [];
    return limit && { outcome: "limit", limit };
  }

  /** Whether the last reply called tools, and none that there is. */
  private callsStrangers(): boolean {
    const uses = this.history.slice(-1).flatMap(toolUsesOf);
    const known = new Set((this.prefix.inline ?? this.prefix.specs).map(({ name }) => name));
    return uses.length > 0 && uses.every(({ name, toolset_name }) => !toolset_name && !known.has(name));
  }

  private async keep(given: readonly Message[]): Promise<void> {
    this.history = answered(given);
    const added = this.history.slice(this.saved);
    if (added.length === 0) return;
    await this.options.save(added).catch(saveFailed);
    this.saved = this.history.length;
  }

  finish(end: End): RunResult {
    const { outcome, limit } = end;
    const why = outcome === "limit" ? `the run's limit of ${limit} was reached` : `the run was ${outcome}`;
    const answer = `NOT_ANSWERED: ${why}. Look what it did before you ask for it again.`;
    const history = closed(this.history, answer);
    const ended: SessionEnded = {
      type: "session_ended",
      ...end,
      text: this.text,
      turns: this.turns,
      duration_ms: Math.round(this.options.now() - this.start),
      ...this.spent,
    };
    return { ended, history, unsaved: history.slice(this.saved) };
  }
}

/** A change of tools must be followed by a reply, so it is kept with the reply. */
const answered = (history: readonly Message[]): Message[] =>
  history.at(-1)?.role === "system" ? history.slice(0, -1) : [...history];

/** The API refuses an empty message. */
const saidIn = ({ content }: BetaMessage): Message[] =>
  content.length > 0 ? [{ role: "assistant", content }] : [];

/** Ends everything: what cannot be stored must not go on. */
class SaveFailed extends Error {}

const saveFailed = (cause: unknown): never => {
  throw new SaveFailed("the history could not be stored", { cause });
};

const noModel = new AgentError(
  "NO_API_KEY",
  "No model is set.",
  "Set ANTHROPIC_API_KEY, or agents.models with a base_url and api_key_env in labwright.yaml.",
);

const contextFull: End = { outcome: "limit", limit: "context_full" };

const nothingSaid = new AgentError(
  "MODEL_FAILED",
  "The model ended without a word.",
  "Say how to go on: the same request would get the same.",
);

const unpriced = (model: string) =>
  new AgentError(
    "CONFIG_INVALID",
    `The price of ${model} is not known, so a limit of cost cannot be kept.`,
    "Set agents.models[].price for it, or take limits.cost_usd away.",
  );

const weak = (model: string) =>
  new AgentError(
    "WEAK_MODEL",
    `${model} called ${maxBroken} times nothing but tools that there are not.`,
    "Take a stronger model, or name a further one in agents.models.",
  );
