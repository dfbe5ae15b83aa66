import { type Command, type CommandResult, DispatchRecord } from "@labwright/controllers";

/** They set something of the driver, or find nothing to do. */
const withoutInput = /^(switch_context|handle_dialog|hide_keyboard|close_app|set_checked|scroll_to_element)$/;

/** Runs a command as the server does; fails the test where a command that writes was done without a recorded input. */
export async function runRecorded(
  command: Command,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CommandResult> {
  const inputs = new DispatchRecord();
  const result = await inputs.run(() => command.run(command.input.parse(params), signal));
  if (command.effect === "write" && inputs.dispatched !== "yes" && !withoutInput.test(command.name))
    throw new Error(`${command.name} was done, and no input was recorded: send it through sendInput.`);
  return result;
}
