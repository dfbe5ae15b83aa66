import type { InstalledAddons } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { ConnectedDevice } from "../phones/connectedDevice.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { endsWithin, inTurn, untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { openWireSession, type WireSession, wireFailure } from "./client.ts";
import { type AppiumFacts, factsForAll, factsOf, platformOf } from "./facts.ts";
import * as failures from "./failures.ts";
import { reportOf } from "./presets.ts";
import { type AppiumSettings, presetOf, type Wanted, wantedSession } from "./settings.ts";

/** A cloud starts a phone, installs an app and starts it. */
export const openMs = 180_000;
const callMs = 60_000;
const doubtMs = 10_000;
const leaveMs = 5_000;

type Connected = { session: WireSession; facts: AppiumFacts };
/** An answer has at most `mostBytes`, 64 MB if left out. */
type CallOptions = { timeoutMs?: number; mostBytes?: number };

export class AppiumDevice extends ConnectedDevice {
  readonly #settings: AppiumSettings;
  readonly #addons: InstalledAddons;
  #connected: Connected | undefined;
  #problem = "";
  readonly #inTurn = inTurn();
  /** Resolves when the latest exclusive calls are done. */
  #alone: Promise<unknown> = Promise.resolve();

  constructor(settings: AppiumSettings, addons: InstalledAddons) {
    super();
    this.#settings = settings;
    this.#addons = addons;
  }

  /** Throws TRANSPORT_LOST while there is no session. */
  facts(): AppiumFacts {
    return this.#now().facts;
  }

  findFacts(): AppiumFacts | undefined {
    return this.#connected?.facts;
  }

  findSessionId(): string | undefined {
    return this.#connected?.session.id;
  }

  /**
   * Runs a command of WebDriver by its name in WebdriverIO, and returns the server's answer. It is never sent twice. Throws
   * TRANSPORT_LOST, DEVICE_ERROR, ACTION_REJECTED, SECURE_SCREEN, TREE_EMPTY.
   */
  async call(
    command: string,
    args: readonly unknown[],
    signal: AbortSignal,
    options?: CallOptions,
  ): Promise<unknown> {
    await untilAborted(this.#alone, signal);
    return this.#call(command, args, signal, options);
  }

  /** Runs calls exclusively; other calls wait until they are done. */
  alone<T>(work: (call: AppiumDevice["call"]) => Promise<T>): Promise<T> {
    const done = this.#inTurn(() => work((...call) => this.#call(...call)));
    this.#alone = done.catch(() => undefined);
    return done;
  }

  async #call(
    command: string,
    args: readonly unknown[],
    signal: AbortSignal,
    { timeoutMs = callMs, mostBytes }: CallOptions = {},
  ): Promise<unknown> {
    const { session } = this.#now();
    const limit = withDeadline(signal, timeoutMs);
    try {
      return await session.call(command, args, limit.signal, mostBytes);
    } catch (error) {
      throw this.#failed(error, { command, args, session, timeoutMs, isOver: limit.over() }, signal);
    } finally {
      limit.done();
    }
  }

  mobile(name: string, given: object, signal: AbortSignal, options?: CallOptions): Promise<unknown> {
    return this.call("executeScript", [`mobile: ${name}`, [given]], signal, options);
  }

  /** Ends a session that cannot be used as it is; the next call opens another one. */
  giveUp(problem: string): void {
    const session = this.#connected?.session;
    this.#lose(problem);
    if (session) void leave(session);
  }

  isAlive(): boolean {
    return this.#connected !== undefined;
  }

  factsForAll(): ControllerFacts {
    if (this.#connected === undefined) return {};
    const { session, facts } = this.#connected;
    const preset = presetOf(this.#settings);
    return factsForAll(facts, preset && reportOf(preset, session.id));
  }

  status(): ControllerStatus {
    if (this.isAlive()) return { state: "online" };
    const reason = this.#problem === "" ? "the device is not open" : this.#problem;
    return { state: "offline", reason, fix: "Take control of it." };
  }

  #now(): Connected {
    if (this.#connected) return this.#connected;
    throw failures.sessionEnded(wantedSession(this.#settings).url);
  }

  protected override async connect(signal: AbortSignal): Promise<void> {
    const before = this.#connected?.session;
    this.#connected = undefined;
    if (before) await leave(before);
    this.#connected = await this.#connect(signal);
  }

  protected override async disconnect(): Promise<void> {
    const session = this.#connected?.session;
    this.#lose("the device is not open");
    if (session) await leave(session);
  }

  protected override ask(signal: AbortSignal): Promise<unknown> {
    return this.call("getWindowRect", [], signal, { timeoutMs: doubtMs });
  }

  async #connect(signal: AbortSignal): Promise<Connected> {
    const wanted = wantedSession(this.#settings);
    const platform = platformOf(wanted.capabilities);
    if (platform === undefined) throw noPlatform();
    const session = await this.#newSession(wanted, signal);
    try {
      const window = await session.call("getWindowRect", [], signal);
      return { session, facts: factsOf(platform, session.capabilities, window) };
    } catch (error) {
      await leave(session);
      throw this.#failed(
        error,
        { command: "getWindowRect", args: [], session, timeoutMs: callMs, isOver: false },
        signal,
      );
    }
  }

  /** A session that opens after its caller left is closed, since a server would keep its device busy. */
  async #newSession(wanted: Wanted, signal: AbortSignal): Promise<WireSession> {
    const limit = withDeadline(new AbortController().signal, openMs);
    const opening = openWireSession(this.#addons, { ...wanted, longestMs: openMs, signal: limit.signal });
    try {
      return await untilAborted(opening, signal);
    } catch (error) {
      if (signal.aborted) void opening.then(leave, () => undefined);
      if (signal.aborted || error instanceof DeviceError) throw error;
      if (limit.over()) throw failures.tooSlow(wanted.url, openMs / 1_000);
      throw notOpened(wanted.url, error);
    } finally {
      if (!signal.aborted) limit.done();
    }
  }

  #failed(
    error: unknown,
    at: {
      command: string;
      args: readonly unknown[];
      session: WireSession;
      timeoutMs: number;
      isOver: boolean;
    },
    signal: AbortSignal,
  ): unknown {
    if (signal.aborted) return signal.reason;
    const { url } = wantedSession(this.#settings);
    if (error instanceof DeviceError) return error;
    const { answer, problem } = wireFailure(error);
    const name = at.command === "executeScript" ? String(at.args[0]) : at.command;
    if (problem !== undefined) return failures.badAnswer(name, problem, url);
    if (answer === undefined) {
      this.doubt();
      return at.isOver ? failures.noAnswer(url, at.timeoutMs / 1_000) : failures.connectionLost(url);
    }
    if (failures.isSessionEnd(answer)) {
      if (this.#connected?.session === at.session) this.#lose("its session has ended");
      return failures.sessionEnded(url);
    }
    return failures.refused(name, answer);
  }

  #lose(problem: string): void {
    this.#connected = undefined;
    this.#problem = problem;
    this.reportStatus();
  }
}

async function leave(session: WireSession): Promise<void> {
  await endsWithin(session.call("deleteSession", [], AbortSignal.timeout(leaveMs)), leaveMs);
}

function notOpened(url: string, error: unknown): DeviceError {
  const { answer, message, problem } = wireFailure(error);
  if (problem !== undefined) return failures.badAnswer("a new session", problem, url);
  if (answer !== undefined) return failures.notOpened(url, answer);
  if (/WebDriver capabilities found/.test(message)) return failures.notOpened(url, { status: 400, message });
  return failures.unreachable(url, message);
}

const noPlatform = () =>
  new DeviceError(
    "INVALID_PARAMS",
    "The capabilities name no platform that can be driven. Set platformName to Android, iOS or tvOS.",
  );
