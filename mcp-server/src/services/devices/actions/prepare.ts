import type { Action, Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { CheckInfo, CommandInfo, OfferingDevice, Secrets } from "../../ports.ts";
import { withPlainNumbers } from "../../values/exactNumbers.ts";
import { fittingParams, inputProblems } from "../../values/inputProblems.ts";
import { resolveValues } from "../../values/values.ts";
import { checksAs, checksOf, commandsOf, notOffered, runsAs } from "../findCommand.ts";

/** An action with the command or check that it names and its parameters, placeholders filled in but not secrets. */
export type Prepared = { action: Action; offered: CommandInfo | CheckInfo; params: Params };

/** The one parameter of a command in which a secret is filled in: an address, say, would carry it away. */
const secretParameters: ReadonlyMap<string, string> = new Map([
  ["input_text", "text"],
  ["type_text", "text"],
  ["http_credentials", "password"],
  ["set_cookie", "value"],
]);

/** The text of a command in which secrets are filled in. */
export const secretTextOf = ({ action, params, offered }: Prepared): unknown =>
  "check" in offered ? undefined : params[secretParameters.get(action.command) ?? ""];

export function withSecrets({ action, params }: Prepared, secrets: Secrets): Params {
  const name = secretParameters.get(action.command);
  return name === undefined || params[name] === undefined
    ? params
    : { ...params, [name]: secrets.fill(params[name]) };
}

function secretProblems({ action, params, offered }: Prepared, secrets: Secrets, at: string): string[] {
  if ("check" in offered) return [];
  const allowed = secretParameters.get(action.command);
  const others = Object.fromEntries(Object.entries(params).filter(([name]) => name !== allowed));
  return secrets
    .named(others)
    .map(
      (name) =>
        `${at}: {{secret.${name}}} may only stand in the text of input_text and type_text, in the password of http_credentials and in the value of set_cookie`,
    );
}

/**
 * Finds each command and checks its parameters before anything runs. Without `variables`, a parameter that holds a
 * placeholder cannot be judged yet and is let through. Throws ACTION_NOT_FOUND, INVALID_INPUT, SECRET_NOT_FOUND,
 * UNKNOWN_VARIABLE.
 */
export function prepareActions(
  device: OfferingDevice,
  actions: readonly Action[],
  variables: Params | undefined,
  secrets: Secrets,
): Prepared[] {
  const problems: string[] = [];
  const prepared = actions.map((action, index) => {
    const offered = find(device, action);
    const { input } = "check" in offered ? offered.check : offered.command;
    const asked = fittingParams(input, action.params);
    const params = variables ? withPlainNumbers(resolveValues(asked, variables)) : asked;
    secrets.check(params);
    const at = `actions[${index}] ${action.command}`;
    const one = { action, offered, params };
    problems.push(...inputProblems(input, params, at), ...secretProblems(one, secrets, at));
    return one;
  });
  if (problems.length === 0) return prepared;
  throw new ToolError("INVALID_INPUT", problems.join("; "), "list_actions shows what each command takes.", {
    problems,
  });
}

function find(device: OfferingDevice, { command: name, action_type: type }: Action): CommandInfo | CheckInfo {
  const commands = commandsOf(device).filter(({ source }) => runsAs(source, type));
  const checks = checksOf(device).filter(({ source }) => checksAs(source, type));
  const found =
    commands.find(({ command }) => command.name === name) ?? checks.find(({ check }) => check.name === name);
  if (found) return found;
  const names = [...commands.map(({ command }) => command.name), ...checks.map(({ check }) => check.name)];
  throw notOffered(device, { wanted: name, names, what: "command", type });
}
