import {
  androidFactory,
  type ControllerContext,
  type ControllerFactory,
  type DriverController,
} from "@labwright/controllers";
import { expect } from "vitest";
import { Hub } from "#controllers/android/hub.ts";
import { linkTo } from "#controllers/android/link.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { runRecorded } from "../runRecorded.ts";

export const refused = (code: string) => expect.objectContaining({ code });

export const never: AbortSignal = new AbortController().signal;

/** A connection by its own, as the driver makes it; `end` stops watching the list of devices. */
export async function openLink(port: number, serial: string) {
  const hub = Hub.at(port);
  const end = hub.watch(() => undefined);
  await hub.refresh(never);
  const device = hub.find(serial);
  if (!device) throw new Error(`adb does not list ${serial}.`);
  return { link: linkTo({ port, hub }, device), hub, device, end };
}

type Settings = Readonly<Record<string, unknown>>;

/** The controller of a device, which is open. */
export const openAndroid = (settings: Settings, context: Partial<ControllerContext> = {}) =>
  opened(makeAndroid(settings, context));

export const makeAndroid = (settings: Settings, context: Partial<ControllerContext> = {}) =>
  // Dumps need no process of their own; the tests of the driver say so.
  makePhone(androidFactory, { backend: "dump", ...settings }, context);

export type TestPhone = ReturnType<typeof makePhone>;

export async function opened(made: TestPhone): Promise<TestPhone> {
  try {
    await made.remote.open(never);
  } catch (error) {
    await made.close();
    throw error;
  }
  return made;
}

/** The controller of a phone or TV, with short words for what tests do with it. */
export function makePhone(
  factory: ControllerFactory,
  settings: Settings = {},
  context: Partial<ControllerContext> = {},
) {
  const own = { ...controllerContext("lab/phone"), ...context };
  const [remote] = factory.create(factory.settings.parse(settings), own);
  if (!remote) throw new Error("The driver made no controller.");
  const dump = () => portOf(remote.elements).dump({ interactiveOnly: false }, never);
  return {
    remote,
    dump,
    close: () => remote.close(),
    run: (name: string, params: Settings = {}, signal: AbortSignal = never) =>
      run(remote, name, params, signal),
    read: (name: string, params: Settings = {}) => read(remote, name, params),
    async holds(name: string, params: Settings = {}, holds = true) {
      expect(await read(remote, name, params)).toMatchObject({ holds });
    },
    /** `role "name"` of each element, with its value and states. */
    async lines() {
      return (await dump()).elements.map(({ role, name, value, states }) =>
        [role, JSON.stringify(name), ...(value === undefined ? [] : [`= ${value}`]), ...states].join(" "),
      );
    },
    async refOf(name: string) {
      const { elements } = await dump();
      const found = elements.find((one) => one.name === name);
      if (!found) throw new Error(`${name} is not among ${elements.map((one) => one.name).join(", ")}`);
      return found.ref;
    },
  };
}

async function run(
  { commands }: Pick<DriverController, "commands">,
  name: string,
  params: Settings,
  signal: AbortSignal,
) {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return runRecorded(command, params, signal);
}

async function read({ checks }: Pick<DriverController, "checks">, name: string, params: Settings) {
  const check = checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse(params), never);
}

export function portOf<Port>(port: Port | undefined): Port {
  if (port === undefined) throw new Error("The controller has no such port.");
  return port;
}
