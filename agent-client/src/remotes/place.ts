import { z } from "zod";
import { AgentError } from "../errors.ts";
import { callTyped, ToolFailure } from "../mcp/calls.ts";
import { isSameDevice } from "../planner/check.ts";
import type { Toolbox } from "../ports.ts";

/** What a task needs of the server that it runs on. */
export type Needs = {
  capabilities: readonly string[];
  /** `host/name`, or the name alone. */
  devices: readonly string[];
  app: string | undefined;
};

/** What a server has of it. */
export type Facts = {
  capabilities: ReadonlySet<string>;
  devices: readonly string[];
  hasApp: boolean;
};

/** `remote`: undefined for this server. `reason`: in words, for the result and the log. */
export type Place<R> = { remote: R | undefined; reason: string };
type Named = { name: string; capabilities: readonly string[] };

/** What of a task's needs a server does not have, a few words each. Pure. */
export const missingIn = ({ capabilities, devices, app }: Needs, facts: Facts): string[] => [
  ...devices
    .filter((device) => !facts.devices.some((one) => isSameDevice(one, device)))
    .map((device) => `the device ${device}`),
  ...(app === undefined || facts.hasApp ? [] : [`a device for the app ${app}`]),
  ...capabilities.filter((one) => !facts.capabilities.has(one)),
];

/**
 * Where a task runs. A device that the task names decides first. Then a remote that is set for one of the needed capabilities,
 * since every Labwright server lists the same tools; then this server; then the first remote that has what is missing here.
 * Only remotes that may be chosen are asked. Throws TOOL_NOT_FOUND or NOT_FOUND with what is missing where, and why a remote
 * did not answer where that decides.
 */
export async function choosePlace<R extends Named>(
  needs: Needs,
  here: Facts,
  remotes: readonly R[],
  factsOf: (remote: R) => Promise<Facts>,
): Promise<Place<R>> {
  const missing = missingIn(needs, here);
  const isHere = missing.length === 0;
  const set = remotes.filter((remote) => setFor(needs, remote).length > 0);
  if (isHere && (needs.devices.length > 0 || set.length === 0))
    return { remote: undefined, reason: "This server has what the task needs." };
  const others = isHere ? [] : remotes.filter((one) => !set.includes(one));
  const lacking: string[] = [];
  const unanswered: AgentError[] = [];
  for (const remote of [...set, ...others]) {
    const facts = await factsOf(remote).catch((error: unknown) => {
      // The user wants it done there and nowhere else.
      if (set.includes(remote) || !(error instanceof AgentError)) throw error;
      unanswered.push(error);
    });
    const lacks = facts && missingIn(needs, facts);
    if (lacks?.length === 0) return { remote, reason: reasonFor(remote, needs, missing) };
    if (lacks) lacking.push(`${remote.name} has not ${lacks.join(", ")}`);
  }
  if (isHere)
    return { remote: undefined, reason: `This server has what the task needs; ${lacking.join("; ")}.` };
  throw nowhere(needs, missing, { lacking, unanswered });
}

const setFor = (needs: Needs, { capabilities }: Named): string[] =>
  needs.capabilities.filter((one) => capabilities.includes(one));

const reasonFor = (remote: Named, needs: Needs, missing: readonly string[]): string =>
  missing.length === 0
    ? `${remote.name} is set for ${setFor(needs, remote).join(", ")}.`
    : `${remote.name} has what this server has not: ${missing.join(", ")}.`;

function nowhere(
  needs: Needs,
  missing: readonly string[],
  { lacking, unanswered }: { lacking: readonly string[]; unanswered: readonly AgentError[] },
): AgentError {
  const [first] = unanswered;
  const where = [
    `this server has not ${missing.join(", ")}`,
    ...lacking,
    ...unanswered.map(({ message }) => message.replace(/\.$/, "")),
  ];
  const isTool = needs.capabilities.some((one) => missing.includes(one));
  return new AgentError(
    first?.code ?? (isTool ? "TOOL_NOT_FOUND" : "NOT_FOUND"),
    `No server can do the task: ${where.join("; ")}.`,
    first?.hint ?? "Name a device or an app of one of them, or add the server that has it to agents.remotes.",
    { ...first?.details, missing },
  );
}

const listed = z.object({ hosts: z.array(z.object({ devices: z.array(z.object({ id: z.string() })) })) });
const fitting = z.object({ devices: z.array(z.unknown()) });

/** Asks a server. Throws an AgentError where it does not answer. */
export async function factsAt(
  toolbox: Toolbox,
  { devices, app }: Needs,
  declared: readonly string[],
  signal: AbortSignal,
): Promise<Facts> {
  const specs = await toolbox.specs();
  const ask = async <T>(name: string, input: Record<string, unknown>, schema: z.ZodType<T>) => {
    try {
      return await callTyped(toolbox, { name, input }, schema, signal);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      const { code, message, hint } = error;
      if (code.endsWith("_NOT_FOUND")) return undefined;
      throw new AgentError(code === "CONNECTION_REFUSED" ? code : "INVALID_RESPONSE", message, hint);
    }
  };
  const hosts = devices.length === 0 ? undefined : await ask("list_hosts", {}, listed);
  const fits = app && (await ask("get_compatible_hosts", { userinterface_name: app }, fitting));
  return {
    capabilities: new Set([...specs.flatMap(({ capabilities = [] }) => capabilities), ...declared]),
    devices: (hosts?.hosts ?? []).flatMap((host) => host.devices.map(({ id }) => id)),
    hasApp: fits ? fits.devices.length > 0 : false,
  };
}
