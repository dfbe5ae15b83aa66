import { portable } from "@labwright/controllers";
import { strictOf } from "../../../domain/strictOf.ts";
import { ToolError } from "../../../errors.ts";
import type { Registry } from "../../../registry/registry.ts";
import { callLine, type OurCall } from "./callLine.ts";

/** TOOL_NOT_FOUND: with our call for a command or check of a device, else with the nearest names. */
export function noSuchTool(registry: Registry, name: string, args: unknown): ToolError {
  const call = callOfCommand(name, args);
  const line = call && isValid(registry, call) ? callLine(call) : undefined;
  if (line === undefined) return registry.notFound(name);
  const message = `There is no tool ${JSON.stringify(name.slice(0, 128))}.`;
  return new ToolError("TOOL_NOT_FOUND", message, `Send this in its place:\n${line}`);
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
