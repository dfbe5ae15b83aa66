import { ToolError } from "../../../errors.ts";

/** What a tool says of itself. */
export type ToolFacts = { effect: "read" | "write" | "destructive"; capabilities: readonly string[] };

type Arguments = Readonly<Record<string, unknown>>;

/** What a script may write: to its own device, and what tests do. Any capability that is not here is refused. */
const testing: ReadonlySet<string> = new Set([
  ...["API_TESTING", "DEVICE_CONTROL", "EXECUTION_CONTROL", "INTERACTION_TESTING", "NAVIGATION", "RECORDING"],
  ...["SCREENSHOT", "TESTING", "UI_VALIDATION", "VISION_ANALYSIS"],
]);
/** What a script is a part of, it can neither start again nor schedule, whatever is allowed. */
const never: ReadonlySet<string> = new Set(["CODE_EXECUTION", "SCHEDULING"]);

/** The script's own device, and the leases on it. */
export type Own = { device_id: string; sessions: ReadonlySet<unknown> };

/** Throws INVALID_INPUT for a tool that no script may call. */
export function refuseAlways(tool: string, facts: ToolFacts | undefined): void {
  if (!facts || facts.effect === "read" || !facts.capabilities.some((one) => never.has(one))) return;
  const hint = "Call it from outside, or put what both share into one script.";
  throw new ToolError("INVALID_INPUT", `A script may not call ${tool}.`, hint);
}

/**
 * Reading, testing and driving its own device need no permission. Anything else needs one that the script asks for and the
 * configuration gives: the tool's name, `force`, or `other_devices`. `given` are those that both name. Throws POLICY_DENIED.
 */
export function checkAllowed(
  call: { tool: string; args: Arguments; facts: ToolFacts | undefined },
  own: Own,
  given: ReadonlySet<string>,
): void {
  const missing = permissionsFor(call, own).filter((permission) => !given.has(permission));
  if (missing.length === 0) return;
  const names = missing.join(", ");
  throw new ToolError(
    "POLICY_DENIED",
    `This script may not call ${call.tool} like that: it lacks the permission ${names}.`,
    `Scripts read, test and drive their own device. For more, write "labwright needs: ${names}" as a comment in the script's first lines, and list it under unsafe.script_needs in labwright.yaml.`,
    { missing },
  );
}

function permissionsFor(
  { tool, args, facts }: { tool: string; args: Arguments; facts: ToolFacts | undefined },
  own: Own,
): string[] {
  // There is no such tool, as the call will say.
  if (!facts) return [];
  const { effect, capabilities } = facts;
  const isTesting = effect === "write" && capabilities.every((one) => testing.has(one));
  return [
    ...(effect === "read" || isTesting ? [] : [tool]),
    ...(isSet(args.force) || isSet(args.replace) ? ["force"] : []),
    ...(namesAnother(tool, args, own) ? ["other_devices"] : []),
  ];
}

/** Calls are read generously: "true" is true, and a list may come as its JSON. */
const isSet = (flag: unknown) => flag !== undefined && flag !== false;

function namesAnother(tool: string, args: Arguments, { device_id, sessions }: Own): boolean {
  const bare = device_id.slice(device_id.indexOf("/") + 1);
  const isOwn = (id: unknown) => id === device_id || id === bare;
  const ids = [args.device_ids ?? []].flat();
  return (
    (args.device_id !== undefined && !isOwn(args.device_id)) ||
    (args.session_id !== undefined && !sessions.has(args.session_id)) ||
    !ids.every(isOwn) ||
    // Without a name it takes any device that is free.
    (tool === "take_control" && (args.copy !== undefined || args.device_id === undefined))
  );
}
