import { isOn, namesIn, type SubsetAsked, SubsetError } from "../../registry/subset.ts";

const parameters = ["skill", "skills", "tool", "tools", "exclude_tools", "read_only"];

/**
 * What an address asks for: `/mcp?skill=a,b`, `/mcp/skills/a`, `tools`, `exclude_tools`, `read_only`. Throws
 * {@link SubsetError} for an unknown parameter, which may be a misspelled limit.
 */
export function askedBy({ pathname, searchParams }: URL): SubsetAsked {
  const unknown = [...searchParams.keys()].filter((name) => !parameters.includes(name));
  if (unknown.length > 0)
    throw new SubsetError(`Unknown: ${unknown.join(", ")}. An address takes ${parameters.join(", ")}.`);
  const path = /^\/mcp\/skills\/([^/]+)\/?$/.exec(pathname)?.[1];
  const given = (...names: string[]) => namesIn(names.flatMap((name) => searchParams.getAll(name)));
  const readOnly = searchParams.get("read_only");
  return {
    skills: namesIn([...(path === undefined ? [] : [decoded(path)]), ...given("skill", "skills")]),
    tools: given("tool", "tools"),
    exclude: given("exclude_tools"),
    readOnly: readOnly !== null && isOn(readOnly),
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
