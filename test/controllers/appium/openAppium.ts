import { appiumFactory, type ControllerContext, type DriverController } from "@labwright/controllers";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { never, portOf } from "../android/openAndroid.ts";

type Settings = Readonly<Record<string, unknown>>;

/** The controllers of a device, which are open. */
export async function openAppium(settings: Settings, context: Partial<ControllerContext> = {}) {
  const made = makeAppium(settings, context);
  try {
    await made.remote.open(never);
    await made.verification.open(never);
  } catch (error) {
    await made.close();
    throw error;
  }
  return made;
}

export function makeAppium(settings: Settings, context: Partial<ControllerContext> = {}) {
  const own = { ...controllerContext("lab/phone"), ...context };
  const [remote, verification] = appiumFactory.create(appiumFactory.settings.parse(settings), own);
  if (!remote || !verification) throw new Error("The driver made no controllers.");
  const dump = () => portOf(remote.elements).dump({ interactiveOnly: false }, never);
  return {
    remote,
    verification,
    dump,
    async close() {
      await remote.close();
      await verification.close();
    },
    run: (name: string, params: Settings = {}, signal: AbortSignal = never) =>
      run(remote, name, params, signal),
    read: (name: string, params: Settings = {}) => read(verification, name, params),
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
  return command.run(command.input.parse(params), signal);
}

async function read({ checks }: Pick<DriverController, "checks">, name: string, params: Settings) {
  const check = checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse(params), never);
}
