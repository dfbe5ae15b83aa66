import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import {
  cutCatalogue,
  isOn,
  namesIn,
  type Subset,
  type SubsetAsked,
  SubsetError,
  wholeCatalogue,
} from "../../registry/subset.ts";

/** Addresses differ without end, and each would keep its own list. */
const maxKept = 256;

/**
 * The subsets of this server's addresses: `/mcp?skill=a,b`, `/mcp/skills/a`, `tools`, `exclude_tools`, `read_only`. What one
 * address serves depends on nothing else but what the user's own skills say. Throws {@link SubsetError}.
 */
export function createSubsets(
  catalogue: Catalogue,
  userSkills: () => readonly CatalogueSkill[],
): { of(request: Request | undefined): Subset } {
  const whole = wholeCatalogue(catalogue);
  const kept = new Map<string, Subset>();
  let skills = userSkills();
  return {
    of(request) {
      if (request === undefined) return whole;
      if (skills !== userSkills()) kept.clear();
      skills = userSkills();
      const asked = askedBy(new URL(request.url));
      const key = JSON.stringify(asked);
      const subset = kept.get(key) ?? cutCatalogue(catalogue, asked, skills);
      if (kept.size >= maxKept) kept.clear();
      kept.set(key, subset);
      return subset;
    },
  };
}

const parameters = ["skill", "skills", "tool", "tools", "exclude_tools", "read_only"];

/** An unknown parameter may have been meant to leave tools out, so it is refused. */
function askedBy({ pathname, searchParams }: URL): SubsetAsked {
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
