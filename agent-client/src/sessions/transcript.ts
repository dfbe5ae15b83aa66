import { randomBytes } from "node:crypto";
import { type AgentEvent, type AgentEventBody, isStored, type SessionEnded } from "../events.ts";
import { closed, type Message, textOf, withoutThinking } from "../loop/history.ts";
import type { AgentStore, Clock, EntryRange, SessionPatch, StoredMessage } from "../ports.ts";

/** Short, and sure enough to be met never twice. */
export const newId = (): string => randomBytes(9).toString("base64url").replace(/[-_]/g, "0");

export type Listener = (event: AgentEvent) => void;

type Entries = { messages?: StoredMessage[]; patch?: SessionPatch; lets_go?: boolean };

/**
 * What goes on with one system and one set of tools: begun with `skill`, after so many messages. Those before `from` are
 * not sent any more: what must be known of them stands at `from`.
 */
type Segment = { skill: string; after: number; prefix: string; from: number };

const pageSize = 1_000;
/** So long a stored event may wait for others to be stored with. */
const flushMs = 200;
/** After a crash it is not known how many pieces were sent. */
const skippedAfterDeath = 10_000;
const died = "NOT_ANSWERED: the agent died while this ran. Look what it did before you ask for it again.";

/**
 * The messages and events of a conversation, as far as this process knows it: it reads what others added, counts events,
 * sends them to its listeners, and stores them in order.
 */
export class Transcript {
  private readonly listeners = new Set<Listener>();
  history: readonly Message[] = [];
  /** Of the last question, while it is open. */
  options: readonly string[] = [];
  /** The one that goes on; undefined before the first. */
  segment: Segment | undefined;
  lastEnd: SessionEnded | undefined;
  /** Whether the last event is a run's end; true before the first. */
  isOver = true;
  private seq = 0;
  private waiting: AgentEvent[] = [];
  private storing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private fault: unknown;
  /** Whether all that is stored is known here. */
  private isWhole = false;

  constructor(
    private readonly id: string,
    private readonly holder: string,
    private readonly deps: { store: AgentStore; clock: Clock },
  ) {}

  /**
   * For the holder of the conversation: reads what other processes may have added, and answers what a dead one left open.
   */
  async refresh({ is_changed }: { is_changed: boolean }): Promise<void> {
    const sent = this.seq;
    // An event that could not be stored does not exist for others, either.
    if (this.fault !== undefined) this.forget();
    if (is_changed || !this.isWhole) await this.readAll();
    this.seq = Math.max(this.seq, sent);
    if (!this.isOver) this.seq += skippedAfterDeath;
    this.isOver = true;
    const added = closed(this.history, died).slice(this.history.length);
    if (added.length > 0) await this.add(added);
  }

  private forget(): void {
    this.history = [];
    this.segment = undefined;
    this.seq = 0;
    this.fault = undefined;
    this.isWhole = false;
  }

  private async readAll(): Promise<void> {
    await this.readEvents();
    const { store } = this.deps;
    for await (const { message } of entries((range) => store.messages(this.id, range), this.history.length))
      this.history = [...this.history, message];
    this.isWhole = true;
  }

  /** Only looks: for who does not hold it. */
  async readEvents(): Promise<void> {
    const { store } = this.deps;
    for await (const event of entries((range) => store.events(this.id, range), this.seq)) this.learn(event);
  }

  /** What a model is given: what was said before the segment without the thinking, and the segment as it is. */
  sent(): Message[] {
    const { from, after } = this.segment ?? { from: 0, after: 0 };
    return [...withoutThinking(this.history.slice(from, after)), ...this.history.slice(after)];
  }

  /** What the user said, newest last. */
  said(): string[] {
    return this.history
      .filter(({ role, content }) => role === "user" && typeof content === "string")
      .map(textOf)
      .filter((text) => text !== "");
  }

  /** Appends messages with every event sent so far; they are stored when it resolves. Gives the last one's `seq`. */
  async add(messages: readonly Message[], more: Omit<Entries, "messages"> = {}): Promise<number> {
    const first = this.history.length + 1;
    this.history = [...this.history, ...messages];
    const stored = messages.map((message, at) => ({ seq: first + at, message }));
    await this.write({ messages: stored, ...more });
    return this.history.length;
  }

  readonly emit = (body: AgentEventBody): void => {
    const at = new Date(this.deps.clock.now()).toISOString();
    const event: AgentEvent = { ...body, session_id: this.id, seq: this.seq + 1, at };
    this.learn(event);
    for (const listener of this.listeners) listener(event);
    if (!isStored(body)) return;
    this.waiting.push(event);
    this.timer ??= setTimeout(() => void this.write({}).catch(() => {}), flushMs);
  };

  /** Stores the events that were sent. Throws what kept an earlier part from being stored. */
  async flush(): Promise<void> {
    await (this.waiting.length > 0 ? this.write({}) : this.storing);
    if (this.fault !== undefined) throw this.fault;
  }

  /** Sends how a run ended, stores it with its last messages, and lets go. Throws as {@link flush}. */
  async end(ended: SessionEnded, messages: readonly Message[], patch: SessionPatch): Promise<void> {
    this.emit(ended);
    await this.add(messages, { patch, lets_go: true });
    await this.flush();
  }

  /** Forgets what the store has, pictures among it; the next {@link refresh} reads it again. Returns true if there are no listeners. */
  rest(): boolean {
    this.history = [];
    this.isWhole = false;
    return this.listeners.size === 0;
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private learn(event: AgentEvent): void {
    this.seq = event.seq;
    this.isOver = event.type === "session_ended";
    if (event.type === "skill_loaded" && event.segment)
      this.segment = { skill: event.skill, ...event.segment, from: this.segment?.from ?? 0 };
    if (event.type === "progress" && event.segment)
      this.segment = { ...event.segment, from: event.segment.after };
    if (event.type === "handoff") this.options = event.options;
    if (event.type === "session_ended") this.lastEnd = event;
  }

  private write(entries: Entries): Promise<void> {
    const events = this.waiting;
    this.waiting = [];
    clearTimeout(this.timer);
    this.timer = undefined;
    const append = () => this.deps.store.append(this.id, this.holder, { ...entries, events });
    const done = this.storing.then(append);
    this.storing = done.catch((error: unknown) => {
      this.fault ??= error;
    });
    return done;
  }
}

/** Every entry behind the last that is known, a page at a time. */
async function* entries<Entry extends { seq: number }>(
  read: (range: EntryRange) => Promise<Entry[]>,
  after: number,
): AsyncGenerator<Entry> {
  for (let last = after; ; ) {
    const page = await read({ after: last, limit: pageSize });
    yield* page;
    const end = page.at(-1)?.seq ?? last;
    if (end <= last) return;
    last = end;
  }
}
