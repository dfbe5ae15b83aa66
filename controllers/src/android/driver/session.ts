import { z } from "zod";
import { DeviceError } from "../../errors.ts";
import { listForwards, removeForward } from "../adb/devices.ts";
import type { Link } from "../link.ts";
import { crashed, hasOwner, isSessionOver, uiaTaken } from "./failures.ts";
import { DriverGone, DriverLate, type DriverProgram } from "./program.ts";

const answerMs = 30_000;
const closeMs = 5_000;
const traceMs = 5_000;
const probeMs = 3_000;
/** A chromedriver that starts takes some seconds. */
const pageMs = 60_000;

/** Removes what the driver leaves on a device: its server and relaxed API restrictions. */
const traces = [
  ...["io.appium.uiautomator2.server", "io.appium.uiautomator2.server.test"].map(
    (name) => `am force-stop ${name}`,
  ),
  ...["hidden_api_policy_pre_p_apps", "hidden_api_policy_p_apps", "hidden_api_policy"].map(
    (name) => `settings delete global ${name}`,
  ),
].join("; ");

export type SessionPlace = {
  program: DriverProgram;
  link: Link;
  adbPort: number;
  /** Ports of this machine that lead to its server on the device, and to its pictures. */
  ports: { system: number; mjpeg: number };
  /** It began by ending the session of another program. */
  tookOver: boolean;
};
export type SessionCall = { signal: AbortSignal; timeoutMs?: number };

/** `contexts` lists the existing ones if the requested one does not exist. */
const pageAnswer = z.union([
  z.object({ snapshots: z.array(z.unknown()) }),
  z.object({ contexts: z.array(z.string()) }),
  z.object({ problem: z.string() }),
]);
export type PageAnswer = z.output<typeof pageAnswer>;

/** One session of the driver, on one connection of a device. It has the device's only UiAutomation until it has ended. */
export class DriverSession {
  readonly link: Link;
  readonly tookOver: boolean;
  readonly #program: DriverProgram;
  readonly #adbPort: number;
  readonly #ports: SessionPlace["ports"];
  #ending: Promise<void> | undefined;
  #isBroken = false;
  #isTaken = false;

  constructor({ program, link, adbPort, ports, tookOver }: SessionPlace) {
    this.#program = program;
    this.#adbPort = adbPort;
    this.#ports = ports;
    this.link = link;
    this.tookOver = tookOver;
    void program.gone.then(() => this.end());
  }

  isUsable(): boolean {
    const isEnding = this.#isBroken || this.#ending !== undefined;
    return !isEnding && this.#program.isRunning() && this.link.isCurrent();
  }

  /** Another program has ended it, and has the device's UiAutomation since. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** The port of the device's MJPEG stream. */
  get mjpegPort(): number {
    return this.#ports.mjpeg;
  }

  get pid(): number | undefined {
    return this.#program.pid;
  }

  /** A request to the UiAutomator2 server, sent once. Throws TRANSPORT_LOST, UIA_BUSY, UIA_CRASHED, DriverRefusal. */
  ask(method: string, path: string, body: unknown, call: SessionCall): Promise<unknown> {
    return this.#call("ask", [method, path, body], call);
  }

  async clipboard(call: SessionCall): Promise<string> {
    return String(await this.#call("clipboard", [], call));
  }

  /** NATIVE_APP, and the WebViews that can be debugged; throws as `ask` does. */
  async contexts({ signal }: SessionCall): Promise<string[]> {
    return z.array(z.string()).parse(await this.#call("contexts", [], { signal }));
  }

  /** The results of a script in the pages of a context. Throws as `ask` does; errors in a page are a `problem`. */
  async pages(context: string, script: string, { signal }: SessionCall): Promise<PageAnswer> {
    return pageAnswer.parse(await this.#call("pages", [context, script], { signal, timeoutMs: pageMs }));
  }

  /** Resolves when nothing of it is left: no process, no instrumentation, no forwarded port. Never throws. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #call(method: string, args: readonly unknown[], { signal, timeoutMs = answerMs }: SessionCall) {
    try {
      return await this.#program.call(method, args, { timeoutMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      const isOver = error instanceof DriverGone || error instanceof DriverLate || isSessionOver(error);
      if (!isOver) throw error;
      this.#isBroken = true;
      // Before it ends: removing our server could remove that of another program.
      const why = await this.#whyBroken(error, signal).finally(() => void this.end());
      throw why;
    }
  }

  /** Finds the real cause: a lost connection, another program, or a crash. */
  async #whyBroken(error: unknown, signal: AbortSignal): Promise<unknown> {
    try {
      // A driver that does not answer may still have its server on the device.
      const isOwned = await hasOwner(this.link, signal);
      this.#isTaken = isOwned && isSessionOver(error);
      return this.#isTaken ? uiaTaken(error) : crashed(error);
    } catch (lost) {
      return lost instanceof DeviceError ? lost : crashed(error);
    }
  }

  async #end(): Promise<void> {
    this.#isTaken ||= await this.#isTakenUnseen();
    if (this.#isTaken) return this.#leave();
    const closing = { signal: AbortSignal.timeout(closeMs), timeoutMs: closeMs };
    const isClosed = await this.#program.call("close", [], closing).then(
      () => !this.#isBroken,
      () => false,
    );
    await this.#program.end();
    if (!isClosed) await removeTraces(this.link, this.#adbPort);
  }

  /** Another program may have taken it since the last call. */
  async #isTakenUnseen(): Promise<boolean> {
    if (this.#isBroken || !this.#program.isRunning() || !this.link.isCurrent()) return false;
    const signal = AbortSignal.timeout(probeMs);
    try {
      await this.#program.call("ask", ["GET", "/appium/settings", {}], { timeoutMs: probeMs, signal });
      return false;
    } catch (error) {
      return isSessionOver(error) && (await hasOwner(this.link, signal).catch(() => false));
    }
  }

  /** Removes only our forwarded ports: the server on the device belongs to another program. */
  async #leave(): Promise<void> {
    await this.#program.kill();
    const signal = AbortSignal.timeout(traceMs);
    const { serial } = this.link;
    for (const port of Object.values(this.#ports))
      await removeForward(this.#adbPort, { serial, port }, signal).catch(() => undefined);
  }
}

/** The endpoints of a device that only the driver and its chromedriver have forwarded. */
const driverEndpoints = /^(?:tcp:(?:6790|7810)|localabstract:\w+_devtools_remote\w*)$/;

/** Cleans up after a driver that could not do so itself. Never throws. */
export async function removeTraces(link: Link, adbPort: number): Promise<void> {
  const signal = AbortSignal.timeout(traceMs);
  try {
    if (link.isCurrent()) await link.script(traces, signal, { timeoutMs: traceMs });
    for (const forward of await listForwards(adbPort, link.serial, signal))
      if (driverEndpoints.test(forward.remote)) await removeForward(adbPort, forward, signal);
  } catch {
    // The device or the server is not there.
  }
}
