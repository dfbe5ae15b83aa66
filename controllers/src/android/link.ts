import type { DeviceClient } from "@devicefarmer/adbkit";
import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { withDeadline } from "../waiting/deadlines.ts";
import { AdbRefusal, refusalOf, transportLost } from "./adb/failures.ts";
import { withKit } from "./adb/kit.ts";
import { commandLine } from "./adb/quote.ts";
import { runShell, type ShellInput, streamShell } from "./adb/shell.ts";
import { AdbSocket } from "./adb/socket.ts";
import type { Attached, Hub } from "./hub.ts";

const usualMs = 15_000;
const usualBytes = 8_000_000;
const brokenCodes: ReadonlySet<string> = new Set([
  ...["TRANSPORT_LOST", "DEVICE_OFFLINE", "DEVICE_UNAUTHORIZED", "DEVICE_NOT_FOUND", "ADB_SERVER_DOWN"],
]);
const awayCodes: ReadonlySet<string> = new Set(["DEVICE_OFFLINE", "DEVICE_NOT_FOUND"]);

/** Defaults: 15 s and 8 MB. */
export type LinkOptions = Partial<ShellInput> & { timeoutMs?: number };
export type LinkResult = { code: number; stdout: string; stderr: string };
export type LinkBytes = { code: number; stdout: Buffer; stderr: string };

export type LinkPlace = {
  port: number;
  serial: string;
  transport: number;
  /** Says whether this connection is still the one that adb lists. */
  isCurrent(): boolean;
};

/**
 * The way to one device over one connection of it: bound to its serial and the number of the connection, so that nothing
 * reaches another device that got the same address or number since. Every call has a deadline and ends when its signal
 * aborts. Each throws TRANSPORT_LOST when the connection breaks under it or is gone, and does nothing again by itself;
 * DEVICE_UNAUTHORIZED, ADB_SERVER_DOWN, and DEVICE_ERROR at its deadline.
 */
export class Link {
  private isBroken = false;

  constructor(private readonly place: LinkPlace) {}

  get serial(): string {
    return this.place.serial;
  }

  isCurrent(): boolean {
    return !this.isBroken && this.place.isCurrent();
  }

  run(args: readonly string[], signal: AbortSignal, options?: LinkOptions): Promise<LinkResult> {
    return this.script(commandLine(args), signal, options);
  }

  /** Runs programs one after another in one round trip, up to the first that fails. */
  runAll(
    commands: readonly (readonly string[])[],
    signal: AbortSignal,
    options?: LinkOptions,
  ): Promise<LinkResult> {
    return this.script(commands.map(commandLine).join(" && "), signal, options);
  }

  /** Runs a shell line. Text from a caller goes in only through {@link commandLine}. */
  async script(line: string, signal: AbortSignal, options?: LinkOptions): Promise<LinkResult> {
    const { stdout, ...rest } = await this.bytes(line, signal, options);
    return { ...rest, stdout: stdout.toString("utf8") };
  }

  /** {@link script} for output that is not text. */
  async bytes(line: string, signal: AbortSignal, options: LinkOptions = {}): Promise<LinkBytes> {
    const { timeoutMs = usualMs, mostBytes = usualBytes, stdin } = options;
    const limit = withDeadline(signal, timeoutMs);
    let isSent = false;
    try {
      const socket = await this.#open(limit.signal);
      try {
        isSent = true;
        const output = await runShell(socket, line, { mostBytes, ...(stdin !== undefined && { stdin }) });
        if (output === undefined) throw transportLost(this.serial);
        return output;
      } finally {
        socket.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      const failure = limit.over() ? late(this.serial, line, timeoutMs) : this.#failure(error);
      throw isSent ? failure : unsent(failure);
    } finally {
      limit.done();
    }
  }

  /** The output of a line that goes on, until `signal` aborts or the connection ends. */
  async *stream(line: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const socket = await this.#open(signal);
    try {
      yield* streamShell(socket, line);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(error);
    } finally {
      socket.close();
    }
  }

  /** Whether something on the device accepts connections to an endpoint, such as `tcp:8080`. */
  async reaches(endpoint: string, signal: AbortSignal): Promise<boolean> {
    const limit = withDeadline(signal, usualMs);
    try {
      const socket = await this.#open(limit.signal);
      try {
        return await socket.request(endpoint).then(
          () => true,
          () => false,
        );
      } finally {
        socket.close();
      }
    } finally {
      limit.done();
    }
  }

  /** Sends files by adbkit on this connection. Rethrows adbkit's own Error when the device refused. */
  async sendFiles<T>(
    work: (device: DeviceClient) => PromiseLike<T>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<T> {
    if (!this.isCurrent()) throw transportLost(this.serial);
    try {
      return await withKit(this.place, { timeoutMs, signal }, work);
    } catch (error) {
      signal.throwIfAborted();
      const isSaid = error instanceof Error && /^(?:Fail|Install)?Error$/.test(error.name);
      const isLost = error instanceof DeviceError || !isSaid || /ECONN|EPIPE|closed/.test(error.message);
      throw isLost ? this.#failure(error) : error;
    }
  }

  /** Selects the device by its serial and checks that it is still this connection. */
  async #open(signal: AbortSignal): Promise<AdbSocket> {
    const { port, serial, transport } = this.place;
    if (!this.isCurrent()) throw transportLost(serial);
    const socket = await AdbSocket.open(port, signal);
    try {
      await socket.request(`host:tport:serial:${serial}`);
      const chosen = await socket.read(8);
      if (chosen?.readBigUInt64LE() === BigInt(transport)) return socket;
      throw transportLost(serial);
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  /** adb may list a device for a moment after it is gone. */
  #failure(error: unknown): unknown {
    const known = error instanceof AdbRefusal ? refusalOf(error, this.serial) : error;
    if (known instanceof DeviceError && !brokenCodes.has(known.code)) return known;
    this.isBroken = true;
    // The device was there when this link was made, so one that is away now was lost.
    const isLost = !(known instanceof DeviceError) || awayCodes.has(known.code);
    return isLost ? transportLost(this.serial, error) : known;
  }
}

export function linkTo({ port, hub }: { port: number; hub: Hub }, device: Attached): Link {
  const { serial, transport, connection } = device;
  const isCurrent = () => {
    const listed = hub.find(serial);
    return listed?.connection === connection && listed.state === "device";
  };
  return new Link({ port, serial, transport, isCurrent });
}

/** Not COMMAND_TIMEOUT, which would blame the app. */
const late = (serial: string, line: string, timeoutMs: number) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${line.split(" ", 2).join(" ")} on ${serial} did not end within ${timeoutMs} ms and was stopped. See whether the device is busy or hangs, and try again.`,
    { serial },
  );
