import { z } from "zod";
import type { AppSource, Command, ControllerContext } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { DeviceError } from "../errors.ts";
import { type ControllerFactory, type DriverController, defineFactory, nowhere } from "../factory.ts";
import { ConnectedDevice } from "../phones/connectedDevice.ts";
import type { ControllerFacts, ControllerStatus, Moment } from "../ports.ts";
import { atMost, pause } from "../waiting/deadlines.ts";
import { remoteCommands } from "./commands.ts";
import { connectTo } from "./wire/sockets.ts";

/**
 * The connection of a driver to what it sends keys to. `press` takes a code of the key map and returns when it left; `down` and `up` hold
 * one. All throw DeviceError.
 */
export type RemoteLink = {
  connect(signal: AbortSignal): Promise<ControllerFacts>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  /** Asks for any answer. */
  ask(signal: AbortSignal): Promise<unknown>;
  press(code: string, signal: AbortSignal): Promise<Moment>;
  hold?: {
    down(code: string, signal: AbortSignal): Promise<Moment>;
    up(code: string, signal: AbortSignal): Promise<Moment>;
  };
};

export type Remote = {
  link: RemoteLink;
  /** Name of a key to its code, in this order also for the nearest names. May grow when the remote is connected. */
  keys: ReadonlyMap<string, string>;
  commands?: readonly Command[];
  apps?: AppSource;
};

/** A key is let go within this time, also when the command that held it was cancelled. */
const releaseMs = 3_000;
const givesUp: ReadonlySet<string> = new Set([
  "DEVICE_OFFLINE",
  "COMMAND_TIMEOUT",
  "TRANSPORT_LOST",
  "DEVICE_LOST",
]);

class RemoteDevice extends ConnectedDevice {
  #facts: ControllerFacts | undefined;
  #failure: DeviceError | undefined;

  constructor(readonly link: RemoteLink) {
    super();
  }

  isAlive(): boolean {
    return this.#facts !== undefined && this.link.isConnected();
  }

  status(): ControllerStatus {
    if (this.isAlive() && this.#failure === undefined) return { state: "online" };
    const { code, message } = this.#failure ?? {
      code: "",
      message: "It is not connected. Take control of the device.",
    };
    const [reason = "", ...fix] = message.split(/(?<=\.) /);
    const state = code === "DEVICE_UNAUTHORIZED" ? "unauthorized" : "offline";
    return { state, reason, ...(fix.length > 0 && { fix: fix.join(" ") }) };
  }

  factsForAll(): ControllerFacts {
    return this.isAlive() ? (this.#facts ?? {}) : {};
  }

  /** Notes how the work ended. What gave no answer is asked for one before it is used again. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#note(undefined);
      return result;
    } catch (error) {
      if (error instanceof DeviceError && (givesUp.has(error.code) || error.code === "DEVICE_UNAUTHORIZED")) {
        this.doubt();
        this.#note(error);
      }
      throw error;
    }
  }

  protected async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.disconnect();
    this.#facts = await this.use(() => this.link.connect(signal));
  }

  protected async disconnect(): Promise<void> {
    this.#facts = undefined;
    this.#failure = undefined;
    await this.link.disconnect();
    this.reportStatus();
  }

  protected ask(signal: AbortSignal): Promise<unknown> {
    return this.use(() => this.link.ask(signal));
  }

  #note(failure: DeviceError | undefined): void {
    this.#failure = failure;
    this.reportStatus();
  }
}

/** The controller of a remote: the commands of its keys, and its own. */
export function remoteController(
  { link, keys, commands = [], apps }: Remote,
  context: ControllerContext,
): DriverController {
  const device = new RemoteDevice(link);
  const codeOf = (name: string) => keys.get(name) ?? name;
  const { hold } = link;
  const sender = {
    keys,
    send: (name: string, signal: AbortSignal) => device.use(() => link.press(codeOf(name), signal)),
    ...(hold && {
      hold: (name: string, ms: number, signal: AbortSignal) =>
        device.use(async () => {
          const code = codeOf(name);
          try {
            await hold.down(code, signal);
            await pause(ms, signal);
          } catch (error) {
            await hold.up(code, atMost(new AbortController().signal, releaseMs)).catch(() => undefined);
            throw error;
          }
          return hold.up(code, atMost(new AbortController().signal, releaseMs));
        }),
    }),
  };
  const own = commands.map(
    (command): Command => ({
      ...command,
      run: (input, signal, fence) => device.use(() => command.run(input, signal, fence)),
    }),
  );
  return {
    kind: "remote",
    commands: [...remoteCommands(sender, context), ...own],
    checks: [],
    ...(apps && { apps }),
    ...device.life(),
  };
}

type RemoteDriver<Settings extends z.ZodType> = {
  name: string;
  settings: Settings;
  /** Settings that are valid, for listing what it offers. */
  example: z.input<Settings>;
  claims(settings: z.output<Settings>): readonly string[];
  diagnose(settings: z.output<Settings>, context: DiagnosisContext): Promise<readonly DiagnosisFinding[]>;
  create(settings: z.output<Settings>, context: ControllerContext): Remote;
};

/** A driver with one controller, `remote`, whose commands are those of its keys and its own. */
export function defineRemote<Settings extends z.ZodType>(driver: RemoteDriver<Settings>): ControllerFactory {
  const { name, settings, example, claims, diagnose, create } = driver;
  const make = (given: z.output<Settings>, context: ControllerContext) =>
    remoteController(create(given, context), context);
  return defineFactory({
    ...{ name, settings, claims, diagnose, kinds: ["remote" as const] },
    offers: () => [make(settings.parse(example), nowhere)],
    create: (given, context) => [make(given, context)],
  });
}

/** Opens a link for a moment, to say whether it works. Sends no key. */
export async function diagnoseLink(
  what: string,
  link: RemoteLink,
  { signal }: Pick<DiagnosisContext, "signal">,
): Promise<DiagnosisFinding> {
  try {
    const { make, version } = await link.connect(atMost(signal, 4_000));
    return { what, status: "ok", detail: [make, version].filter(Boolean).join(" ") || "it answers" };
  } catch (error) {
    if (!(error instanceof DeviceError))
      return { what, status: "missing", detail: "it does not answer", fix: "Switch it on" };
    const [detail = "", ...fix] = error.message.split(/(?<=\.) /);
    return { what, status: "missing", detail, ...(fix.length > 0 && { fix: fix.join(" ") }) };
  } finally {
    await link.disconnect();
  }
}

/** Whether a TV answers, and whether this server is paired with it. Opens no session, which would show a question on its screen. */
export async function diagnosePaired(
  { what, host, port }: { what: string; host: string; port: number },
  { signal, isPaired }: DiagnosisContext,
): Promise<DiagnosisFinding[]> {
  const place = {
    name: `${what} at ${hostAndPort(host, port)}`,
    check: "Switch it on, or correct its address.",
  };
  const paired: DiagnosisFinding = isPaired
    ? { what: `${what} pairing`, status: "ok", detail: "paired" }
    : {
        what: `${what} pairing`,
        status: "missing",
        detail: "not paired",
        fix: "Run: labwright tv pair <device>",
      };
  try {
    const socket = await connectTo({ host, port, ...place }, anywhere, signal);
    socket.destroy();
    return [{ what, status: "ok", detail: "it answers" }, paired];
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [{ what, status: "missing", detail, fix: place.check }, paired];
  }
}

/** Where `url_policy` is not known: addresses come from the configuration. */
export const anywhere = { allowHost: () => undefined, allowAddress: () => undefined };

export const hostSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,250}$|^[0-9A-Fa-f:]{2,45}$/,
    "a host is a name or an IP address, without a port",
  )
  .describe("Name or IP address.");
export const portSchema = z.int().min(1).max(65_535);
export const keysSchema = z
  .record(
    z.string().regex(/^[A-Z0-9][A-Z0-9_]{0,39}$/, "a key is named in capitals"),
    z.string().min(1).max(4_000),
  )
  .default({})
  .describe("Further keys, or other codes for known ones: name in capitals to the code that is sent.");

/** A table of keys, `NAME:code` each, with the user's own over it. */
export const keyMap = (table: string, own: Readonly<Record<string, string>>): Map<string, string> =>
  new Map([
    ...table
      .trim()
      .split(/\s+/)
      .filter((pair) => pair !== "")
      .map((pair): [string, string] => {
        const at = pair.indexOf(":");
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ...Object.entries(own),
  ]);

/** The address of a host and port, as in URLs. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
