import type { Agent } from "../agents/agent.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, SessionEnded } from "../events.ts";
import type { StoredSession } from "../ports.ts";
import { listDevices, platformOf } from "../skills/device.ts";
import { createApprovals } from "./approvals.ts";
import { busy, type Held, hold } from "./hold.ts";
import { runMessage, titleLetters } from "./run.ts";
import type { Deps } from "./segments.ts";
import { type Listener, newId, Transcript } from "./transcript.ts";

/** A conversation with what it waits for. */
export type Conversation = StoredSession & {
  isRunning: boolean;
  approvals: readonly Extract<AgentEvent, { type: "approval_required" }>[];
};

export type ConversationDeps = Deps & {
  agents: readonly Agent[];
  /** Names this process among those that have the same conversations. */
  holder: string;
  /** How long a conversation that rests stays in memory; a minute when left out. */
  idleMs?: number;
};

/** Longer than any question; a model's window is not much larger. */
const maxLetters = 400_000;
const pageSize = 1_000;
const suggested = 3;

type Message = { text: string; skill?: string | undefined };
type Approvals = ReturnType<typeof createApprovals>;
type Run = { stop: AbortController; approvals: Approvals; ended: Promise<SessionEnded> };
/** What this process knows of a conversation. `isTaken` from the moment in which a message is taken to the run's end. */
type Open = { owner: string; transcript: Transcript; isTaken: boolean; run?: Run; idle?: NodeJS.Timeout };

export const createConversations = (deps: ConversationDeps): Conversations => new Engine(deps);

/**
 * Conversations with agents: the one door for the command line, REST and Socket.IO. One that is another owner's is not
 * there: SESSION_NOT_FOUND.
 */
export type Conversations = Pick<Engine, keyof Engine>;

class Engine {
  private readonly open = new Map<string, Open>();

  constructor(private readonly deps: ConversationDeps) {}

  /** Throws AGENT_NOT_FOUND, AGENT_NOT_SELECTABLE with the events that start it. */
  async create(given: { owner: string; agent?: string | undefined; title?: string | undefined }) {
    const { owner, agent: name, title = "" } = given;
    const agent = findAgent(this.deps.agents, name);
    const session = { id: newId(), agent: agent.name, owner, title: title.slice(0, titleLetters) };
    return this.view(await this.deps.server.store.createSession(session));
  }

  list({ owner, limit = 50 }: { owner: string; limit?: number }): Promise<StoredSession[]> {
    return this.deps.server.store.sessions({ owner, limit });
  }

  async get(id: string, owner: string): Promise<Conversation> {
    return this.view(await this.own(id, owner));
  }

  /** Ends what runs in it first. */
  async remove(id: string, owner: string): Promise<void> {
    await this.interrupt(id, owner);
    this.open.delete(id);
    await this.deps.server.store.deleteSession(id);
  }

  /**
   * Takes a message and starts a run; resolves when the message is stored. Throws SESSION_BUSY while one runs, here or in
   * another process; INPUT_TOO_LARGE; INVALID_INPUT for an empty one.
   */
  async send(id: string, owner: string, message: Message): Promise<{ seq: number }> {
    checkText(message.text);
    const here = await this.openOf(id, owner);
    // Whoever has heard the end of a run may speak at once.
    if (here.transcript.isOver) await here.run?.ended.catch(() => {});
    if (here.isTaken) throw busy(id);
    here.isTaken = true;
    try {
      return await this.take(id, here, message);
    } catch (error) {
      here.isTaken = false;
      throw error;
    }
  }

  /** Ends the run with `cancelled`, and the tool under way with it. False when nothing ran. */
  async interrupt(id: string, owner: string): Promise<boolean> {
    const { run } = await this.openOf(id, owner);
    run?.stop.abort();
    await run?.ended.catch(() => {});
    return run !== undefined;
  }

  /** Throws APPROVAL_NOT_FOUND for one that is decided, expired or unknown. */
  async decide(id: string, owner: string, approval_id: string, approved: boolean): Promise<void> {
    const { run } = await this.openOf(id, owner);
    if (run?.approvals.decide(approval_id, approved)) return;
    throw new AgentError(
      "APPROVAL_NOT_FOUND",
      `No approval ${approval_id} is waited for.`,
      "It was decided, or its time was over; GET the session for those that are open.",
    );
  }

  /** The events in order, without pieces. */
  async events(id: string, owner: string, { after, limit = pageSize }: { after: number; limit?: number }) {
    const { transcript } = await this.openOf(id, owner);
    await transcript.flush();
    return this.deps.server.store.events(id, { after, limit: Math.min(limit, pageSize) });
  }

  /** Hears every event of a conversation from now on, pieces too, in order. Gives the way to stop. */
  async subscribe(id: string, owner: string, listener: Listener): Promise<() => void> {
    const { transcript } = await this.openOf(id, owner);
    return transcript.subscribe(listener);
  }

  /** Resolves with the end of the run under way, or of the last one. */
  async ended(id: string, owner: string): Promise<SessionEnded> {
    const { run, transcript } = await this.openOf(id, owner);
    if (run) return run.ended;
    if (!transcript.lastEnd) await transcript.readEvents();
    if (transcript.lastEnd) return transcript.lastEnd;
    throw new AgentError("NOT_FOUND", `Nothing was asked in ${id} yet.`, "Send a message first.");
  }

  /** Three that the available devices can run. */
  async suggestions(name?: string): Promise<{ text: string }[]> {
    const agent = findAgent(this.deps.agents, name);
    const devices = await listDevices(this.deps.server, AbortSignal.timeout(5_000));
    const platforms = new Set<string | null>(devices.map(platformOf));
    return agent.suggestions
      .filter(({ platform }) => platform === undefined || platforms.has(platform))
      .slice(0, suggested)
      .map(({ text }) => ({ text }));
  }

  /** How many have a run under way here. */
  readonly running = (): number => [...this.open.values()].filter(({ run }) => run !== undefined).length;

  /** Ends every run. */
  async close(): Promise<void> {
    const runs = [...this.open.values()].flatMap(({ run }) => run ?? []);
    for (const { stop } of runs) stop.abort();
    await Promise.allSettled(runs.map(({ ended }) => ended));
    for (const { idle } of this.open.values()) clearTimeout(idle);
    this.open.clear();
  }

  private async own(id: string, owner: string): Promise<StoredSession> {
    const session = await this.deps.server.store.findSession(id);
    if (session?.owner === owner) return session;
    throw new AgentError(
      "SESSION_NOT_FOUND",
      `There is no conversation ${id}.`,
      "List those that there are.",
    );
  }

  private async openOf(id: string, owner: string): Promise<Open> {
    if (this.open.get(id)?.owner !== owner) await this.own(id, owner);
    const { server, clock, holder } = this.deps;
    const transcript = () => new Transcript(id, holder, { store: server.store, clock });
    const found = this.open.get(id) ?? { owner, transcript: transcript(), isTaken: false };
    this.open.set(id, found);
    this.leaveWhenIdle(id, found);
    return found;
  }

  /** Begins to wait anew with each use. */
  private leaveWhenIdle(id: string, here: Open): void {
    clearTimeout(here.idle);
    here.idle = setTimeout(() => {
      if (here.isTaken || here.run) return;
      if (here.transcript.rest()) this.open.delete(id);
    }, this.deps.idleMs ?? 60_000).unref();
  }

  /** Holds the conversation, stores the message, and starts the run. */
  private async take(id: string, here: Open, message: Message): Promise<{ seq: number }> {
    const { holder, server, models } = this.deps;
    const stop = new AbortController();
    const held = await hold(server.store, { id, holder, lost: () => stop.abort() });
    try {
      const { transcript } = here;
      const agent = this.agentOf(held.session);
      await transcript.refresh(held);
      const { options } = transcript;
      const said = transcript.said();
      const text = options[Number(message.text.trim().replace(/[.)]$/, "")) - 1] ?? message.text;
      const session = { ...held.session, title: held.session.title || text.slice(0, titleLetters) };
      const isOpen = message.skill === undefined && models.current().length > 0;
      const devices = isOpen ? listDevices(server, stop.signal) : undefined;
      const patch = { title: session.title };
      const seq = await transcript.add([{ role: "user", content: text }], { patch });
      const asked = { ...message, text, loaded: session.skill ?? undefined, options, said, devices };
      here.run = this.start({ agent, session, message: asked, transcript }, { here, held, stop });
      return { seq };
    } catch (error) {
      await held.letGo();
      throw error;
    }
  }

  private start(
    given: Parameters<typeof runMessage>[0],
    at: { here: Open; held: Held; stop: AbortController },
  ): Run {
    const approvals = createApprovals(given.agent, this.deps, {
      session: given.session,
      emit: given.transcript.emit,
    });
    const deps = { ...this.deps, gate: approvals.gate, signal: at.stop.signal };
    const ended = this.letGoAfter(runMessage(given, deps), at.here, at.held).finally(() =>
      this.leaveWhenIdle(given.session.id, at.here),
    );
    ended.catch(() => {});
    return { stop: at.stop, approvals, ended };
  }

  private async letGoAfter(running: Promise<SessionEnded>, here: Open, held: Held): Promise<SessionEnded> {
    try {
      const ended = await running;
      // What was stored last has let go.
      held.stop();
      return ended;
    } catch (error) {
      await held.letGo();
      throw error;
    } finally {
      delete here.run;
      here.isTaken = false;
    }
  }

  private agentOf({ agent: name }: StoredSession): Agent {
    const agent = this.deps.agents.find((one) => one.name === name);
    if (agent) return agent;
    throw new AgentError("AGENT_NOT_FOUND", `There is no agent ${name} any more.`, "Begin anew.");
  }

  private view(session: StoredSession): Conversation {
    const { id } = session;
    const here = this.open.get(id);
    const run = here?.transcript.isOver ? undefined : here?.run;
    const at = new Date(this.deps.clock.now()).toISOString();
    const pending = run?.approvals.pending() ?? [];
    const approvals = pending.map((one) => ({ ...one, session_id: id, seq: 0, at }));
    return { ...session, isRunning: run !== undefined, approvals };
  }
}

function checkText(text: string): void {
  if (text.trim() === "") throw new AgentError("INVALID_INPUT", "The message is empty.", "Say what to do.");
  if (text.length <= maxLetters) return;
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `The message has ${text.length} characters; at most ${maxLetters} are taken.`,
    "Put long text into a file and name it, or send the part that matters.",
  );
}

/** The one of that name, or the default; only those that people may talk to. */
function findAgent(agents: readonly Agent[], name?: string): Agent {
  const agent = agents.find((one) => (name === undefined ? one.default : one.name === name));
  const names = agents.filter(({ selectable }) => selectable).map((one) => one.name);
  if (!agent)
    throw new AgentError(
      "AGENT_NOT_FOUND",
      `There is no agent ${name ?? "by default"}.`,
      `There is ${names.join(", ")}.`,
    );
  if (agent.selectable) return agent;
  const events = agent.triggers.map(({ event }) => event);
  throw new AgentError(
    "AGENT_NOT_SELECTABLE",
    `${agent.nickname} only runs on events; you cannot chat with it.`,
    `It is started by ${events.join(", ")}. Talk to ${names.join(", ")}.`,
    { events },
  );
}
