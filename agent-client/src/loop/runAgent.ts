import type { BetaToolRunner } from "@anthropic-ai/sdk/lib/tools/BetaToolRunner";
import type {
  BetaMessage,
  BetaRawMessageStreamEvent,
  BetaTextBlockParam,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { AgentError } from "../errors.ts";
import type { AgentEventBody, Limit, SessionEnded, Usage } from "../events.ts";
import { clearing } from "../model/context.ts";
import { failureOf, isForeignThinking, type ModelFailure } from "../model/failure.ts";
import type { ModelEndpoint } from "../model/models.ts";
import { bindingBeta, thinkingOf } from "../model/thinking.ts";
import {
  addPaid,
  addUsage,
  cacheLines,
  costLine,
  costOf,
  inputOf,
  noUsage,
  type Paid,
  usageOf,
} from "../model/usage.ts";
import type { Toolbox, ToolSpec } from "../ports.ts";
import { closed, type Message, namesIn, toolUsesOf } from "./history.ts";
import { createInputCheck } from "./inputs.ts";
import { type Gate, runnableTools } from "./tools.ts";

export type RunLimits = {
  turns: number;
  /** Of all requests of the run, in and out. */
  tokens: number;
  cost_usd: number;
  timeout_ms: number;
  /** Of one reply. */
  max_output_tokens: number;
};

export type RunOptions = {
  /** In order: the next goes on with the same history when one fails. */
  models: readonly ModelEndpoint[];
  system: string;
  /** Exactly these are sent, in this order. */
  specs: readonly ToolSpec[];
  /**
   * In place of `specs`, which are sent all the same: added and taken away within the conversation, so that what is
   * cached of it stays. Only for models that take it.
   */
  inline?: readonly ToolSpec[] | undefined;
  call: Toolbox["call"];
  gate: Gate;
  /** Ends with the user's message. */
  history: readonly Message[];
  limits: RunLimits;
  signal: AbortSignal;
  emit(event: AgentEventBody): void;
  /** Stores what came to the history; nothing goes on before it is stored. */
  save(messages: readonly Message[]): Promise<void>;
  /** Milliseconds. */
  now(): number;
};

export type RunResult = { ended: SessionEnded; history: Message[] };

/** Lets a message add whole tools to a conversation; platform.claude.com, Mid-conversation system messages. */
const inlineToolsBeta = "inline-tools-2026-09-15";

type End = Pick<SessionEnded, "outcome"> & Partial<Pick<SessionEnded, "limit" | "error">>;
/** Replies that may break off one after the other before a model is given up, and replies that only call what is not there. */
const maxBroken = 3;

/**
 * Model, tools, model ... until the model stops or a limit does: the SDK's tool runner, with what it leaves to us. Never
 * rejects but for `save`: whatever happens is an end by name, and the history is one that can be gone on with.
 */
export async function runAgent(options: RunOptions): Promise<RunResult> {
  const run = new Run(options);
  const end = await run.throughModels();
  return run.finish(end);
}

class Run {
  private history: Message[];
  private saved: number;
  private turns = 0;
  private usage: Usage = noUsage;
  private paid: Paid | undefined = { cost_usd: 0, saved_usd: 0 };
  private text = "";
  /** Set when the API took thinking of this conversation for another one's. */
  private dropsForeign = false;
  private readonly inputs = createInputCheck();
  private readonly start: number;
  private readonly signal: AbortSignal;
  private readonly time: AbortSignal;

  constructor(private readonly options: RunOptions) {
    this.history = [...options.history];
    this.saved = options.history.length;
    this.start = options.now();
    this.time = AbortSignal.timeout(options.limits.timeout_ms);
    this.signal = AbortSignal.any([options.signal, this.time]);
  }

  async throughModels(): Promise<End> {
    const { models, emit } = this.options;
    let end: End = { outcome: "failed", error: noModel };
    for (const [at, endpoint] of models.entries()) {
      const failure = await this.withModel(endpoint);
      if ("outcome" in failure) return failure;
      end = failure.code === "CONTEXT_FULL" ? contextFull : { outcome: "failed", error: failure };
      const next = models[at + 1];
      if (next)
        emit({ type: "progress", kind: "model", text: `${failure.message} Going on with ${next.model}.` });
    }
    return end;
  }

  /** The run's end, or the failure that another model may not have. */
  private async withModel(endpoint: ModelEndpoint): Promise<End | NonNullable<SessionEnded["error"]>> {
    for (let broken = 0; ; ) {
      const before = this.turns;
      const attempt = await this.attempt(endpoint);
      if ("outcome" in attempt) return attempt;
      broken = this.turns > before ? 1 : broken + 1;
      const { code, message, hint } = attempt.error;
      if (!attempt.again || broken >= maxBroken) return { code, message, hint };
      this.options.emit({ type: "progress", kind: "model", text: `${message} Asking again.` });
    }
  }

  private async attempt(endpoint: ModelEndpoint): Promise<End | ModelFailure> {
    try {
      return await this.talk(endpoint);
    } catch (error) {
      if (error instanceof SaveFailed) throw error.cause;
      if (!this.signal.aborted && isForeignThinking(error) && this.mayDropThinking(endpoint))
        return { ...failureOf(error, endpoint.model), again: true };
      return this.signal.aborted ? this.aborted() : failureOf(error, endpoint.model);
    }
  }

  /** Once in a run, and only where a request may say so. */
  private mayDropThinking(endpoint: ModelEndpoint): boolean {
    const isFirst = !this.dropsForeign && thinkingOf(endpoint).thinking?.type === "adaptive";
    this.dropsForeign ||= isFirst;
    return isFirst;
  }

  private aborted(): End {
    if (this.options.signal.aborted) return { outcome: "cancelled" };
    return { outcome: "limit", limit: "time" };
  }

  /** Turns with one model until it stops; throws what the SDK throws. */
  private async talk(endpoint: ModelEndpoint): Promise<End> {
    const { options, signal } = this;
    const { limits } = options;
    if (endpoint.facts.price === undefined && Number.isFinite(limits.cost_usd))
      throw unpriced(endpoint.model);
    const cached = { type: "ephemeral" } as const;
    const cleared = clearing(endpoint, [...options.specs, ...(options.inline ?? [])]);
    const betas = [
      ...(cleared.betas ?? []),
      ...(options.inline ? [inlineToolsBeta] : []),
      ...(this.dropsForeign ? [bindingBeta] : []),
    ];
    const { output_tokens: most = limits.max_output_tokens } = endpoint.facts;
    const system: BetaTextBlockParam[] = [{ type: "text", text: options.system, cache_control: cached }];
    const runner = endpoint.client.beta.messages.toolRunner(
      {
        model: endpoint.model,
        max_tokens: Math.min(limits.max_output_tokens, most),
        system,
        cache_control: cached,
        tools: runnableTools({ ...options, signal, isBroken: this.inputs.isBroken }),
        messages: this.history,
        stream: true,
        thread: false,
        ...thinkingOf(endpoint, { dropsForeign: this.dropsForeign }),
        ...cleared,
        ...(betas.length > 0 && { betas }),
      },
      { signal },
    );
    this.addInline(runner);
    try {
      return await this.follow(runner, endpoint);
    } catch (error) {
      // What tools answered since the last reply is known, whatever became of the request that told it.
      if (!(error instanceof SaveFailed) && runner.params.messages.length > this.history.length)
        await this.keep(runner.params.messages);
      throw error;
    }
  }

  /** What is there already is taken away first; the runner sends the changes with its next request. */
  private addInline(runner: BetaToolRunner<true>): void {
    const { options, signal, inputs } = this;
    if (!options.inline) return;
    runner.removeTools(...namesIn(this.history, options.specs));
    runner.addTools(
      ...runnableTools({ ...options, specs: options.inline, signal, isBroken: inputs.isBroken }),
    );
  }

  private async follow(runner: BetaToolRunner<true>, endpoint: ModelEndpoint): Promise<End> {
    const { signal } = this;
    let strangers = 0;
    for await (const stream of runner) {
      // It streams already, and what listens only after its end would wait for ever: it listens before anything is stored.
      const events = stream[Symbol.asyncIterator]();
      await this.keep(runner.params.messages);
      signal.throwIfAborted();
      for await (const event of { [Symbol.asyncIterator]: () => events }) this.tell(event);
      const reply = await stream.finalMessage();
      this.account(reply, endpoint);
      // A message of nothing is no message: the API refuses it.
      const said: Message[] = reply.content.length > 0 ? [{ role: "assistant", content: reply.content }] : [];
      await this.keep([...runner.params.messages, ...said]);
      const end = this.endOf(reply);
      if (end) return end;
      strangers = this.callsStrangers() ? strangers + 1 : 0;
      if (strangers === maxBroken) throw weak(endpoint.model);
    }
    return { outcome: "done" };
  }

  /** Pieces as they come; what is whole is told with the reply. */
  private tell(event: BetaRawMessageStreamEvent): void {
    this.inputs.see(event);
    if (event.type === "content_block_delta" && event.delta.type === "text_delta")
      this.options.emit({ type: "message", text: event.delta.text, partial: true });
  }

  private account(reply: BetaMessage, { model, facts: { price } }: ModelEndpoint): void {
    const { emit } = this.options;
    this.turns += 1;
    const usage = usageOf(reply.usage);
    this.usage = addUsage(this.usage, usage);
    const paid = price && costOf(usage, price);
    this.paid = addPaid(this.paid, paid);
    for (const block of reply.content) {
      if (block.type === "thinking" && block.thinking) emit({ type: "thinking", text: block.thinking });
      if (block.type === "text" && block.text) emit({ type: "message", text: block.text });
    }
    const text = reply.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    if (text) this.text = text;
    for (const line of cacheLines(usage, price)) emit({ type: "progress", kind: "cache", text: line });
    emit({ type: "progress", kind: "cost", text: costLine(`turn ${this.turns}, ${model}`, usage, paid) });
  }

  /** Undefined while the runner is to go on. */
  private endOf({ stop_reason, content }: BetaMessage): End | undefined {
    if (stop_reason === "refusal") return { outcome: "refused" };
    if (stop_reason === "max_tokens") return { outcome: "limit", limit: "output_tokens" };
    if (stop_reason === "model_context_window_exceeded") return contextFull;
    if (stop_reason === "pause_turn") return this.reached();
    if (content.every(({ type }) => type === "thinking" || type === "redacted_thinking"))
      return { outcome: "failed", error: nothingSaid };
    if (!content.some(({ type }) => type === "tool_use")) return { outcome: "done" };
    return this.reached();
  }

  private reached(): End | undefined {
    const { limits } = this.options;
    const reached: [Limit, boolean][] = [
      ["turns", this.turns >= limits.turns],
      ["tokens", inputOf(this.usage) + this.usage.output_tokens >= limits.tokens],
      ["cost", (this.paid?.cost_usd ?? 0) >= limits.cost_usd],
    ];
    const [limit] = reached.find(([, isReached]) => isReached) ?? [];
    return limit && { outcome: "limit", limit };
  }

  /** Whether the last reply called tools, and none that there is. */
  private callsStrangers(): boolean {
    const uses = this.history.slice(-1).flatMap(toolUsesOf);
    const known = new Set((this.options.inline ?? this.options.specs).map(({ name }) => name));
    return uses.length > 0 && uses.every(({ name }) => !known.has(name));
  }

  private async keep(given: readonly Message[]): Promise<void> {
    // A change of tools must be followed by a reply, so it is kept with the reply.
    const history = given.at(-1)?.role === "system" ? given.slice(0, -1) : given;
    this.history = [...history];
    const added = history.slice(this.saved);
    if (added.length === 0) return;
    try {
      await this.options.save(added);
    } catch (cause) {
      throw new SaveFailed("the history could not be stored", { cause });
    }
    this.saved = history.length;
  }

  async finish(end: End): Promise<RunResult> {
    const why =
      end.outcome === "limit" ? `the run's limit of ${end.limit} was reached` : `the run was ${end.outcome}`;
    await this.keep(
      closed(this.history, `NOT_ANSWERED: ${why}. Look what it did before you ask for it again.`),
    ).catch((error) => {
      throw error instanceof SaveFailed ? error.cause : error;
    });
    const ended: SessionEnded = {
      type: "session_ended",
      ...end,
      text: this.text,
      turns: this.turns,
      duration_ms: Math.round(this.options.now() - this.start),
      usage: this.usage,
      ...this.paid,
    };
    return { ended, history: this.history };
  }
}

/** Ends everything: what cannot be stored must not go on. */
class SaveFailed extends Error {}

const { code, message, hint } = new AgentError(
  "NO_API_KEY",
  "No model is set.",
  "Set ANTHROPIC_API_KEY, or agents.models with a base_url and api_key_env in labwright.yaml.",
);
const noModel = { code, message, hint };

const contextFull: End = { outcome: "limit", limit: "context_full" };

const nothingSaid = {
  code: "MODEL_FAILED",
  message: "The model ended without a word.",
  hint: "Say how to go on: the same request would get the same.",
};

const unpriced = (model: string) =>
  new AgentError(
    "CONFIG_INVALID",
    `The price of ${model} is not known, so a limit of cost cannot be kept.`,
    "Set agents.models[].price for it, or take limits.cost_usd away.",
  );

const weak = (model: string) =>
  new AgentError(
    "MODEL_FAILED",
    `WEAK_MODEL: ${model} called ${maxBroken} times nothing but tools that there are not.`,
    "Take a stronger model, or name a further one in agents.models.",
  );
