import { androidFactory, type ControllerContext, type DriverController } from "@labwright/controllers";
import { Hub } from "../../../controllers/src/android/hub.ts";
import { linkTo } from "../../../controllers/src/android/link.ts";
import { controllerContext } from "../../fixtures/controllerContext.ts";

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

/** The controllers of a device, of which the first is open. */
export async function openAndroid(settings: Settings, context: Partial<ControllerContext> = {}) {
  const made = makeAndroid(settings, context);
  try {
    await made.remote.open(never);
    await made.verification.open(never);
  } catch (error) {
    await made.close();
    throw error;
  }
  return made;
}

export function makeAndroid(settings: Settings, context: Partial<ControllerContext> = {}) {
  const own = { ...controllerContext("lab/phone"), ...context };
  // Dumps need no process of their own; the tests of the driver say so.
  const parsed = androidFactory.settings.parse({ backend: "dump", ...settings });
  const [remote, verification] = androidFactory.create(parsed, own);
  if (!remote || !verification) throw new Error("The driver made no controllers.");
  const close = async () => {
    await remote.close();
    await verification.close();
  };
  return {
    remote,
    verification,
    close,
    run: (name: string, params: Settings = {}, signal: AbortSignal = never) =>
      run(remote, name, params, signal),
    read: (name: string, params: Settings = {}) => read(verification, name, params),
    /** `role "name"` of each element, with its value and states. */
    async lines() {
      const dump = await portOf(remote.elements).dump({ interactiveOnly: false }, never);
      return dump.elements.map(({ role, name, value, states }) =>
        [role, JSON.stringify(name), ...(value === undefined ? [] : [`= ${value}`]), ...states].join(" "),
      );
    },
    async refOf(name: string) {
      const dump = await portOf(remote.elements).dump({ interactiveOnly: false }, never);
      const found = dump.elements.find((one) => one.name === name);
      if (!found) throw new Error(`${name} is not among ${dump.elements.map((one) => one.name).join(", ")}`);
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
  return command.run(command.input.parse(params), signal);
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
