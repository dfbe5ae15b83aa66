import type { z } from "zod";
import type {
  CheckOffer,
  CommandOffer,
  Controller,
  ControllerContext,
  ControllerKind,
  VerificationKind,
} from "./contract.ts";
import type { DiagnosisContext, DiagnosisFinding } from "./diagnosis.ts";

/** What a controller of one kind may offer. */
export type KindOffer = {
  kind: ControllerKind;
  verification?: VerificationKind;
  commands: readonly CommandOffer[];
  checks: readonly CheckOffer[];
};

/** A device that a driver sees and that is not configured. `serial` is its own for ever; `settings` are those of the driver. */
export type DiscoveredDevice = { serial: string; model: string; settings: unknown };

type Declared<Settings extends z.ZodType> = {
  name: string;
  /** The kinds of its controllers, and what their checks are called by. */
  kinds: readonly ControllerKind[];
  settings: Settings;
  /** The longest that opening one of its controllers takes; 20 s when left out. */
  openMs?: number;
  /** All that its controllers may offer, one entry a kind; needs no device. Of these lists an open one may withhold. */
  offers(): readonly KindOffer[];
  /**
   * What a device of these settings needs on this machine, and what mends it. Never throws, ends within some seconds, starts
   * no device and changes nothing.
   */
  diagnose?(settings: z.output<Settings>, context: DiagnosisContext): Promise<readonly DiagnosisFinding[]>;
  /**
   * The physical things that a device of these settings uses and cannot share, such as `serial:XYZ`, `capture:/dev/video0` or
   * `outlet:10.0.0.5/1`. One device of the configuration, and one daemon of this user, has each of them.
   */
  claims?(settings: z.output<Settings>): readonly string[];
  /**
   * Settings of a further device like this one that shares nothing with it, such as another browser; undefined where there is
   * only this one, or it cannot be as wished.
   */
  copy?(settings: z.output<Settings>, wish: CopyWish): z.output<Settings> | undefined;
  /**
   * Reports all devices that are there, at once or soon and at every change, until the function that it returns is called. `configured`
   * are the settings of the configured devices, which may say where to look.
   */
  discover?(
    configured: readonly z.output<Settings>[],
    listener: (found: readonly DiscoveredDevice[]) => void,
  ): () => void;
};

/**
 * `headed`: its window is shown, on the `display` of the caller where one is given: DISPLAY, WAYLAND_DISPLAY, XAUTHORITY and
 * XDG_RUNTIME_DIR of its environment. `browser`: it is this browser, by a name such as `firefox`. `cdp`: the address of a
 * Chromium that already runs, in which a window of its own is opened.
 */
export type CopyWish = {
  headed: boolean;
  browser?: string | undefined;
  display?: Readonly<Record<string, string>> | undefined;
  cdp?: string | undefined;
};

/**
 * Makes the controllers of one technology; its name is that of the driver. `settings` is the strict schema of what a
 * device's `controllers` entry may say under `name`; `create` may return several controllers that share one connection, and
 * starts nothing.
 */
export type ControllerFactory<Settings extends z.ZodType = z.ZodType> = Declared<Settings> & {
  create(settings: z.output<Settings>, context: ControllerContext): readonly Controller[];
};

/** A controller as its driver makes it: the factory puts the driver's name on it. */
export type DriverController = Omit<Controller, "driver">;

type Driver<Settings extends z.ZodType> = Declared<Settings> & {
  create(settings: z.output<Settings>, context: ControllerContext): readonly DriverController[];
};

/** Infers the settings type. The controllers that it makes bear its name. */
export function defineFactory<Settings extends z.ZodType>(factory: Driver<Settings>): ControllerFactory {
  return {
    ...factory,
    create(settings: z.output<Settings>, context: ControllerContext) {
      const { name: driver } = factory;
      return factory.create(settings, context).map((controller) => ({ ...controller, driver }));
    },
  };
}

/** A controller without a connection: it judges what the other controllers of its device give. `close` frees what it keeps. */
export function judging({
  close,
  ...parts
}: Pick<DriverController, "kind" | "commands" | "checks"> & { close?(): void }): DriverController {
  let isOpen = false;
  return {
    ...parts,
    async open(signal) {
      signal.throwIfAborted();
      isOpen = true;
    },
    async close() {
      isOpen = false;
      close?.();
    },
    isAlive: () => isOpen,
    noticesAfter: () => [],
  };
}

const unused = () => {
  throw new Error("A controller that only lists what it offers was used");
};

/** For controllers that are never opened: they are made to list what they offer. */
export const nowhere: ControllerContext = {
  deviceId: "none",
  allowUrl: unused,
  allowAddress: unused,
  allowHost: unused,
  hasPathRules: false,
  uploadPath: unused,
  storageStatePath: unused,
  unsafe: { javascript: false, deviceShell: false },
  app: unused,
  inputsSince: unused,
  device: {
    ...{ screen: unused, elements: unused, focus: unused, frames: unused, stream: unused },
    ...{ read: unused, press: unused },
  },
  reference: unused,
  temporaryFolder: unused,
  addons: { state: unused, folder: unused, load: unused },
  pairing: unused,
};
