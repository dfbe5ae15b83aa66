import { nearest } from "@labwright/controllers";
import { ToolError } from "../errors.ts";
import { aliases, type SeedDomain, seedDomainsOf } from "./seedNames.ts";
import type { AnyTool, Capability, Domain } from "./tool.ts";

/** The closed set of tools of this build, sorted by name. */
export type Registry = {
  list(): readonly AnyTool[];
  find(name: string): AnyTool | undefined;
  /** TOOL_NOT_FOUND with the tool of that alias, or the nearest names, none of a more dangerous tool. */
  notFound(name: string): ToolError;
  /** The tools of a domain that have any of the capabilities. */
  filter(by: { domain?: Domain | SeedDomain; capabilities?: readonly Capability[] }): readonly AnyTool[];
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
      const wanted = aliases[name];
      const candidates = wanted === undefined ? nearestTools(name, sorted) : [wanted];
      return new ToolError(
        "TOOL_NOT_FOUND",
        `There is no tool ${JSON.stringify(name.slice(0, 128))}.`,
        candidates.length > 0 ? `Nearest: ${candidates.join(", ")}.` : "List the tools to see their names.",
        { requested_tool: name.slice(0, 128), available_tools: candidates },
      );
    },
    filter: ({ domain, capabilities }) =>
      sorted.filter(
        (tool) =>
          (domain === undefined || [tool.domain, ...seedDomainsOf(tool)].includes(domain)) &&
          (capabilities === undefined || capabilities.some((one) => tool.capabilities.includes(one))),
      ),
  };
}

type Named = Pick<AnyTool, "name" | "effect">;

const dangers = ["read", "write", "destructive"] as const satisfies readonly AnyTool["effect"][];
/** Other words for looking. Any other verb that no tool of ours has is taken for a harmless one, too. */
const verbOf = (name: string) => name.split("_")[0] ?? name;

/**
 * The tools whose names are nearest to one that is not there, and that are not more dangerous than it promises to be: what
 * asks for `get_x` is never offered `delete_x`.
 */
export function nearestTools(name: string, tools: readonly Named[], most?: number): string[] {
  const danger = dangerOf(name, tools);
  const harmless = tools.filter(({ effect }) => dangers.indexOf(effect) <= danger);
  return nearest(
    name,
    harmless.map((tool) => tool.name),
    most,
  );
}

/** As dangerous as the tools of ours that begin with its verb, or with the one that is spelt like it. */
function dangerOf(name: string, tools: readonly Named[]): number {
  const verbs = new Set(tools.map((tool) => verbOf(tool.name)));
  const said = verbOf(name.toLowerCase());
  const verb = verbs.has(said) ? said : isTypo(said, verbs);
  const same = tools.filter((tool) => verbOf(tool.name) === verb);
  return Math.max(0, ...same.map(({ effect }) => dangers.indexOf(effect)));
}

/** "delte" is "delete"; "view" is no "save". */
function isTypo(said: string, verbs: ReadonlySet<string>): string | undefined {
  const letters = (word: string) => [...word].sort().join("");
  return [...verbs].find((verb) => {
    const [short = "", long = ""] = [said, verb].sort((a, b) => a.length - b.length);
    const isOneOff =
      long.length - short.length <= 1 && [...long].some((_, at) => removed(long, at) === short);
    return verb.length > 3 && (letters(said) === letters(verb) || isOneOff);
  });
}

const removed = (word: string, at: number) => word.slice(0, at) + word.slice(at + 1);
