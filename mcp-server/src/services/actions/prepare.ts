import type { Action, Params } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { checksOf, commandsOf, isOfType, notOffered } from "../findCommand.ts";
import { inputProblems } from "../inputProblems.ts";
import type { CheckInfo, CommandInfo, OpenDevice, Secrets } from "../ports.ts";
import { resolveValues } from "../values.ts";

/** An action with the command or check that runs it and its parameters, placeholders filled in but not secrets. */
export type Prepared = { action: Action; offered: CommandInfo | CheckInfo; params: Params };

/**
 * Finds each command and checks its parameters before anything runs. Without `variables`, a parameter that holds a
 * placeholder cannot be judged yet and is let through. Throws ACTION_NOT_FOUND, INVALID_INPUT, SECRET_NOT_FOUND,
 * UNKNOWN_VARIABLE.
 */
export function prepareActions(
  device: OpenDevice,
  actions: readonly Action[],
  variables: Params | undefined,
  secrets: Secrets,
): Prepared[] {
  const problems: string[] = [];
  const prepared = actions.map((action, index) => {
    const offered = find(device, action);
    const params = variables ? resolveValues(action.params, variables) : action.params;
    secrets.check(params);
    const { input } = "check" in offered ? offered.check : offered.command;
    problems.push(...inputProblems(input, params, `actions[${index}] ${action.command}`));
    return { action, offered, params };
  });
  if (problems.length === 0) return prepared;
  throw new ToolError("INVALID_INPUT", problems.join("; "), "list_actions shows what each command takes.", {
    problems,
  });
}

function find(device: OpenDevice, { command: name, action_type: type }: Action): CommandInfo | CheckInfo {
  const commands = commandsOf(device).filter(({ kind }) => isOfType(kind, type));
  const checks = checksOf(device).filter(({ kind }) => isOfType(kind, type));
  const found =
    commands.find(({ command }) => command.name === name) ?? checks.find(({ check }) => check.name === name);
  if (found) return found;
  const names = [...commands.map(({ command }) => command.name), ...checks.map(({ check }) => check.name)];
  throw notOffered(device, name, names, "command");
}
