import type { z } from "zod";
import type { AppSource, Command, ControllerContext, Pairing } from "../contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "../diagnosis.ts";
import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { type ControllerFactory, type DriverController, defineFactory, nowhere } from "../factory.ts";
import { ConnectedDevice } from "../phones/connectedDevice.ts";
import type { ControllerFacts, ControllerStatus, Moment } from "../ports.ts";
import { findProgram } from "../programs/run.ts";
import { atMost, pause } from "../waiting/deadlines.ts";
import { type ConsoleProgram, needProgram } from "../wire/console.ts";
import type { Exchange } from "../wire/exchange.ts";
import { offline } from "../wire/failures.ts";
import { anywhere, type Reach } from "../wire/sockets.ts";
import { type KeySender, remoteCommands } from "./commands.ts";

/** What a driver may reach and know while it connects. `isDoctor`: it only looks, and starts or changes nothing. */
export type Access = Reach & {
  device: string;
  pairing(): Promise<Pairing | undefined>;
  isDoctor?: boolean;
};

/**
 * An open connection to what keys are sent to. `press` takes a code of the key map and returns when it left; `down` and `up` hold
 * one. `ask` asks for any answer. All throw DeviceError.
 */
export type RemoteLink = {
  facts: ControllerFacts;
  /** Left out where each key has a connection of its own. */
  connection?: Exchange;
  /** In place of the keys that the driver knows. */
  keys?: ReadonlyMap<string, string>;
  ask(signal: AbortSignal): Promise<unknown>;
  press(code: string, signal: AbortSignal): Promise<Moment>;
  hold?: {
    down(code: string, signal: AbortSignal): Promise<Moment>;
    up(code: string, signal: AbortSignal): Promise<Moment>;
  };
};

/** Works with the open connection. Throws DEVICE_OFFLINE where there is none. */
export type Use<Link> = <T>(work: (link: Link) => Promise<T>) => Promise<T>;

export type RemoteDriver<Settings extends z.ZodType, Link extends RemoteLink> = {
  name: string;
  /** What a person calls it, such as "Roku". */
  what: string;
  settings: Settings;
  claims(settings: z.output<Settings>): readonly string[];
  /** Name of a key to its code, in this order also for the nearest names. */
  keys(settings: z.output<Settings>): ReadonlyMap<string, string>;
  /** Its links have `hold`. */
  holds: boolean;
  program?: ConsoleProgram;
  /** Ends what it started where it fails. */
  connect(settings: z.output<Settings>, access: Access, signal: AbortSignal): Promise<Link>;
  /** Further commands. */
  commands?(use: Use<NoInfer<Link>>): readonly Command[];
  apps?(use: Use<NoInfer<Link>>): AppSource;
  /** In place of a connection that is opened for a moment. */
  diagnose?(settings: z.output<Settings>, context: DiagnosisContext): Promise<readonly DiagnosisFinding[]>;
};

/** A key is let go within this time, also when the command that held it was cancelled. */
const releaseMs = 3_000;
const doctorMs = 4_000;
const noAnswer: ReadonlySet<string> = new Set(["COMMAND_TIMEOUT", "TRANSPORT_LOST"]);
const givesUp: ReadonlySet<string> = new Set([...noAnswer, "DEVICE_OFFLINE", "DEVICE_UNAUTHORIZED"]);

const notConnected = () =>
  unsent(new DeviceError("DEVICE_OFFLINE", "The remote is not connected. Take control of the device."));

/** The sentence that says what is wrong, and those that say what to do. */
function reasonAndFix({ message }: Error): { reason: string; fix?: string } {
  const [reason = "", ...fix] = message.split(/(?<=\.) /);
  return { reason, ...(fix.length > 0 && { fix: fix.join(" ") }) };
}

class RemoteDevice<Link extends RemoteLink> extends ConnectedDevice implements KeySender {
  readonly #keys: ReadonlyMap<string, string>;
  readonly #connect: (signal: AbortSignal) => Promise<Link>;
  #link: Link | undefined;
  #failure: DeviceError | undefined;

  constructor(keys: ReadonlyMap<string, string>, connect: (signal: AbortSignal) => Promise<Link>) {
    super();
    this.#keys = keys;
    this.#connect = connect;
  }

  get keys(): ReadonlyMap<string, string> {
    return this.#link?.keys ?? this.#keys;
  }

  isAlive(): boolean {
    return this.#link !== undefined && (this.#link.connection?.isOpen() ?? true);
  }

  status(): ControllerStatus {
    if (this.isAlive() && this.#failure === undefined) return { state: "online" };
    const failure = this.#failure ?? notConnected();
    const state = failure.code === "DEVICE_UNAUTHORIZED" ? "unauthorized" : "offline";
    return { state, ...reasonAndFix(failure) };
  }

  factsForAll(): ControllerFacts {
    return this.isAlive() ? (this.#link?.facts ?? {}) : {};
  }

  use: Use<Link> = (work) =>
    this.#noting(async () => {
      if (this.#link === undefined) throw notConnected();
      return work(this.#link);
    });

  send(key: string, signal: AbortSignal): Promise<Moment> {
    return this.use((link) => link.press(this.#codeOf(key), signal));
  }

  /** The key goes up also where `signal` aborts. */
  hold(key: string, ms: number, signal: AbortSignal): Promise<Moment> {
    const code = this.#codeOf(key);
    return this.use(async ({ hold }) => {
      const up = async () => hold?.up(code, atMost(new AbortController().signal, releaseMs));
      try {
        await hold?.down(code, signal);
        await pause(ms, signal);
      } catch (error) {
        await up().catch(() => undefined);
        throw error;
      }
      return (await up()) ?? 0;
    });
  }

  protected async connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.disconnect();
    const link = await this.#noting(() => this.#connect(signal));
    this.#link = link;
    link.connection?.onClose(() => this.reportStatus());
  }

  protected async disconnect(): Promise<void> {
    const before = this.#link;
    this.#link = undefined;
    this.#failure = undefined;
    await before?.connection?.close();
    this.reportStatus();
  }

  protected ask(signal: AbortSignal): Promise<unknown> {
    return this.use((link) => link.ask(signal));
  }

  #codeOf(key: string): string {
    return this.keys.get(key) ?? key;
  }

  /** What gave no answer is asked for one before it is used again. */
  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#note(undefined);
      return result;
    } catch (error) {
      if (error instanceof DeviceError && givesUp.has(error.code)) {
        this.doubt();
        this.#note(error);
      }
      throw error;
    }
  }

  #note(failure: DeviceError | undefined): void {
    this.#failure = failure;
    this.reportStatus();
  }
}

/** The controller of a remote. `open` connects, when the controller is opened. */
export function remoteController<Link extends RemoteLink>(
  { holds, commands, apps }: Pick<RemoteDriver<z.ZodType, Link>, "holds" | "commands" | "apps">,
  keys: ReadonlyMap<string, string>,
  open: (signal: AbortSignal) => Promise<Link>,
  context: ControllerContext,
): DriverController {
  const device = new RemoteDevice(keys, open);
  return {
    kind: "remote",
    commands: [...remoteCommands({ device, holds }, context), ...(commands?.(device.use) ?? [])],
    checks: [],
    ...(apps && { apps: apps(device.use) }),
    ...device.life(),
  };
}

/** A driver with one controller, `remote`, whose commands are those of its keys and its own. */
export function defineRemote<Settings extends z.ZodType, Link extends RemoteLink>(
  driver: RemoteDriver<Settings, Link>,
): ControllerFactory {
  const { name, settings, claims } = driver;
  const connect = async (given: z.output<Settings>, access: Access, signal: AbortSignal) => {
    if (driver.program) needProgram(driver.program);
    try {
      return await driver.connect(given, access, signal);
    } catch (error) {
      if (!(error instanceof DeviceError) || !noAnswer.has(error.code)) throw error;
      // No key was sent yet.
      const check = `Switch it on, or correct controllers.${name}.`;
      throw offline({ name: driver.what, check }, "it does not answer");
    }
  };
  return defineFactory({
    ...{ name, settings, claims, kinds: ["remote" as const] },
    offers: () => [remoteController(driver, new Map(), () => Promise.reject(notConnected()), nowhere)],
    create(given, context) {
      const { deviceId: device } = context;
      const access: Access = {
        device,
        allowHost: (host, port) => context.allowHost(host, port),
        allowAddress: (address) => context.allowAddress(address),
        pairing: () => context.pairing(name),
      };
      const open = (signal: AbortSignal) => connect(given, access, signal);
      return [remoteController(driver, driver.keys(given), open, context)];
    },
    diagnose: (given, context) => diagnose({ ...driver, connect }, given, context),
  });
}

async function diagnose<Settings extends z.ZodType, Link extends RemoteLink>(
  driver: RemoteDriver<Settings, Link>,
  settings: z.output<Settings>,
  context: DiagnosisContext,
): Promise<readonly DiagnosisFinding[]> {
  const { what, program } = driver;
  if (program && findProgram(program.program, { ...context.env }) === undefined)
    return [
      { what: program.program, status: "missing", detail: "not found", fix: `Run: ${program.install}` },
    ];
  if (driver.diagnose) return driver.diagnose(settings, context);
  if (JSON.stringify(settings).includes("{{"))
    return [{ what, status: "ok", detail: "its settings hold a secret, so it was not asked" }];
  const access = { ...anywhere, device: "", pairing: async () => undefined, isDoctor: true };
  return [await diagnoseLink(what, (signal) => driver.connect(settings, access, signal), context.signal)];
}

/** Opens a connection for a moment, to say whether it works. Sends no key. */
export async function diagnoseLink(
  what: string,
  open: (signal: AbortSignal) => Promise<RemoteLink>,
  signal: AbortSignal,
): Promise<DiagnosisFinding> {
  try {
    const { facts, connection } = await open(atMost(signal, doctorMs));
    await connection?.close();
    const { make, version, screen } = facts;
    const size = screen && `${screen.width} x ${screen.height} pixels`;
    const detail = [make, version, size].filter(Boolean).join(" ") || "it answers";
    return { what, status: "ok", detail };
  } catch (error) {
    if (!(error instanceof DeviceError))
      return { what, status: "missing", detail: "it does not answer", fix: "Switch it on" };
    const { reason: detail, fix } = reasonAndFix(error);
    return { what, status: "missing", detail, ...(fix !== undefined && { fix }) };
  }
}
