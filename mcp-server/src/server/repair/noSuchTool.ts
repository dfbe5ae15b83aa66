import { portable } from "@labwright/controllers";
import { strictOf } from "../../domain/strictOf.ts";
import { ToolError } from "../../errors.ts";
import { deviceFields } from "../../registry/fields.ts";
import type { Registry } from "../../registry/registry.ts";
import { callLine, type OurCall } from "./callLine.ts";
import { type Given, objectsOf } from "./given.ts";
import { act, step, verify } from "./mapping.ts";
import { callOfOtherServer } from "./otherServers.ts";

/** TOOL_NOT_FOUND: with our call for another server's tool or for a command of ours, else with the nearest names. */
export function noSuchTool(registry: Registry, name: string, args: unknown): ToolError {
  const [given = {}] = objectsOf(args);
  const line = [callOfOtherServer(name, given), callOfCommand(name, given)]
    .map((call) => call && validCall(registry, call))
    .map((call) => call && callLine(call))
    .find((one) => one !== undefined);
  if (line === undefined) return registry.notFound(name);
  const message = `There is no tool ${JSON.stringify(name.slice(0, 128))}.`;
  return new ToolError("TOOL_NOT_FOUND", message, `Send this in its place:\n${line}`);
}

/** A command or check of a device that was called as if it were a tool. */
function callOfCommand(name: string, { device_id, session_id, ...params }: Given): OurCall | undefined {
  const offered = Object.entries(portable).find(([command]) => command === name)?.[1];
  if (offered === undefined || !strictOf(offered.input).safeParse(params).success) return undefined;
  const call = "effect" in offered ? act(step(name, params)) : verify(step(name, params));
  return { ...call, arguments: { ...call.arguments, device_id, session_id } };
}

/** Without the device where the tool takes none. Undefined for a call that would be refused. */
function validCall(registry: Registry, { tool, arguments: args }: OurCall): OurCall | undefined {
  const input = registry.find(tool)?.input;
  if (input === undefined) return undefined;
  const isTaken = (name: string) => name in input.shape || !(name in deviceFields);
  const taken = Object.fromEntries(Object.entries(args).filter(([name]) => isTaken(name)));
  return strictOf(input).safeParse(taken).success ? { tool, arguments: taken } : undefined;
}
