import { ToolError } from "../errors.ts";
import { nearestTools } from "./nearestTools.ts";
import type { AnyTool, Capability, Domain } from "./tool.ts";

/** The closed set of tools of this build, sorted by name. */
export type Registry = {
  list(): readonly AnyTool[];
  find(name: string): AnyTool | undefined;
  /** TOOL_NOT_FOUND with the nearest names, none of a more dangerous tool. */
  notFound(name: string): ToolError;
  filter(by: { domain?: Domain; capability?: Capability }): readonly AnyTool[];
};

/** Throws if two tools share a name or a name is not in snake_case: a fault of this build, found at its start. */
export function createRegistry(tools: readonly AnyTool[]): Registry {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    if (!/^[a-z]+(_[a-z0-9]+)*$/.test(tool.name))
      throw new Error(`Tool name ${tool.name} is not in snake_case.`);
    if (byName.has(tool.name)) throw new Error(`Two tools are named ${tool.name}.`);
    byName.set(tool.name, tool);
  }
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    list: () => sorted,
    find: (name) => byName.get(name),
    notFound(name) {
      const candidates = nearestTools(name, sorted);
      return new ToolError(
        "TOOL_NOT_FOUND",
        `There is no tool ${JSON.stringify(name.slice(0, 128))}.`,
        candidates.length > 0 ? `Nearest: ${candidates.join(", ")}.` : "List the tools to see their names.",
        { nearest: candidates },
      );
    },
    filter: ({ domain, capability }) =>
      sorted.filter(
        (tool) =>
          (domain === undefined || tool.domain === domain) &&
          (capability === undefined || tool.capabilities.includes(capability)),
      ),
  };
}
