import type { ControllerContext, ControllerFactory } from "@labwright/controllers";
import { controllerContext } from "../../fixtures/controllerContext.ts";

export const never: AbortSignal = new AbortController().signal;

/** A remote of these settings, and its commands by name. */
export function makeRemote(
  factory: ControllerFactory,
  settings: object,
  more: Partial<ControllerContext> = {},
) {
  const context = { ...controllerContext("lab/tv"), ...more };
  const [remote] = factory.create(factory.settings.parse(settings), context);
  if (!remote) throw new Error("The factory made no controller.");
  const run = (name: string, params: object = {}, signal: AbortSignal = never) => {
    const command = remote.commands.find((one) => one.name === name);
    if (!command) throw new Error(`There is no command ${name}.`);
    return command.run(command.input.parse(params), signal);
  };
  return { remote, run, press: (key: string) => run("press_key", { key }) };
}
