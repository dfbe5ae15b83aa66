import { portable } from "@labwright/controllers";
import { strictOf } from "../../../domain/strictOf.ts";
import { ToolError } from "../../../errors.ts";
import type { Registry } from "../../../registry/registry.ts";

/** TOOL_NOT_FOUND: with our call for a command or check of a device, else with the nearest names. */
export function noSuchTool(registry: Registry, name: string, args: unknown): ToolError {
  const call = callOfCommand(name, args);
  const line = call && isValid(registry, call) ? callLine(call) : undefined;
  if (call === undefined || line === undefined) return registry.notFound(name);
  const requested = name.slice(0, 128);
  return new ToolError(
    "TOOL_NOT_FOUND",
    `There is no tool ${JSON.stringify(requested)}.`,
    `Send this in its place:\n${line}`,
    { requested_tool: requested, available_tools: [call.tool] },
  );
}

/** A command or check of a device that was called as if it were a tool. */
function callOfCommand(name: string, args: unknown): OurCall | undefined {
  const given = typeof args === "object" ? args : {};
  const { device_id, session_id, ...params } = { device_id: undefined, session_id: undefined, ...given };
  const offered = Object.entries(portable).find(([command]) => command === name)?.[1];
  if (offered === undefined || !strictOf(offered.input).safeParse(params).success) return undefined;
  const step = [{ command: name, params }];
  const isAction = "effect" in offered;
  return {
    tool: isAction ? "execute_device_action" : "verify_device_state",
    arguments: { ...(isAction ? { actions: step } : { checks: step }), device_id, session_id },
  };
}

function isValid(registry: Registry, { tool, arguments: args }: OurCall): boolean {
  const input = registry.find(tool)?.input;
  return input !== undefined && strictOf(input).safeParse(args).success;
}

/** A call of one of our tools. */
export type OurCall = { tool: string; arguments: Readonly<Record<string, unknown>> };

/** About 110 tokens: an error is read by a model that pays for it. */
const longestLine = 400;
const longestText = 60;

/**
 * A call as one line of JSON, to be sent as it stands. Long texts and lists are shortened, and a line below says so. Undefined
 * if it is still too long.
 */
export function callLine({ tool, arguments: args }: OurCall): string | undefined {
  const whole = jsonOf(args);
  if (whole !== undefined && whole.length <= longestLine) return `${tool} ${whole}`;
  const withShortTexts = jsonOf(args, (_, value) => (typeof value === "string" ? shortened(value) : value));
  if (withShortTexts === undefined) return undefined;
  const [json, left] = withFewerItems(JSON.parse(withShortTexts));
  if (json.length > longestLine) return undefined;
  const notes = [
    ...(withShortTexts === whole ? [] : ["Put your whole texts in place of those that end with …"]),
    ...(left > 0 ? [`Add the other ${left} in the same way.`] : []),
  ];
  return [`${tool} ${json}`, ...notes].join("\n");
}

/** Undefined for a value that is nested deeper than the stack. */
function jsonOf(value: unknown, replace?: (key: string, value: unknown) => unknown): string | undefined {
  try {
    return JSON.stringify(value, replace);
  } catch {
    return undefined;
  }
}

const shortened = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}…`;

/** The JSON without the last items of the longest list, as many as do not fit, and how many. One item always stays. */
function withFewerItems(args: Record<string, unknown>): [json: string, left: number] {
  const lists = Object.entries(args).flatMap(([key, value]) =>
    Array.isArray(value) ? [{ key, items: value }] : [],
  );
  const [longestList] = lists.sort((a, b) => b.items.length - a.items.length);
  const withFirst = (kept: number) =>
    JSON.stringify(longestList ? { ...args, [longestList.key]: longestList.items.slice(0, kept) } : args);
  const all = longestList?.items.length ?? 0;
  let kept = all;
  while (kept > 1 && withFirst(kept).length > longestLine) kept--;
  return [withFirst(kept), all - kept];
}
