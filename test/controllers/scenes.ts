import type { DriverController } from "@labwright/controllers";

const never = new AbortController().signal;

/** Stands where a scene has nothing to give. */
export const notAsked = () => Promise.reject(new Error("The table waives it."));

export function runBy(
  { commands }: DriverController,
  name: string,
  params: object = {},
  signal: AbortSignal = never,
) {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new Error(`There is no command ${name}.`);
  return command.run(command.input.parse(params), signal);
}

export function readBy(controller: DriverController, name: string, params: object) {
  const check = controller.checks.find((one) => one.name === name);
  if (!check) throw new Error(`There is no check ${name}.`);
  return check.read(check.input.parse(params), never);
}

export async function refOf({ elements }: DriverController, name: string): Promise<string> {
  const dump = await elements?.dump({ interactiveOnly: false }, never);
  const found = dump?.elements.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not on the screen.`);
  return found.ref;
}
