import { type McpServer, type Resource, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import type { WireTool } from "../../registry/wire.ts";
import type { Backend } from "./backend.ts";

export const mimeType = "application/json";

/** The catalogue never changes within a build, and is not secret. */
const ofTheBuild = { ttlMs: 3_600_000, cacheScope: "public" } as const;
/** Some are the user's own, and change. */
const ofTheUser = { ttlMs: 0, cacheScope: "private" } as const;

export const describeSkill = ({ markdown: _, ...skill }: CatalogueSkill): object => skill;
/** The strict schema of a tool's arguments, of which its listing shows a brief one. */
export const describeSchema = ({ schemas }: Catalogue, { name, inputSchema }: WireTool): object =>
  schemas[name] ?? inputSchema;

/**
 * Serves single tools as `tool://<name>`, the strict JSON Schema of their arguments as `schema://<name>`, and skills as
 * `skill://<name>`. Names outside the catalogue are requested from the daemon, which knows the user's skills.
 */
export function registerCatalogue(mcp: McpServer, catalogue: Catalogue, backend: Backend): void {
  registerNamed(mcp, backend, {
    scheme: "tool",
    title: "Tool",
    description: "One tool's description, schemas and annotations, and the skills that have it.",
    cacheHint: ofTheBuild,
    items: catalogue.tools,
    describe: (tool) => tool,
  });
  registerNamed(mcp, backend, {
    scheme: "schema",
    title: "Schema of arguments",
    description:
      "The strict JSON Schema of a tool's arguments, with its limits and what the listing leaves out.",
    cacheHint: ofTheBuild,
    items: catalogue.tools,
    describe: (tool) => describeSchema(catalogue, tool),
  });
  registerNamed(mcp, backend, {
    scheme: "skill",
    title: "Skill",
    description: "One skill: what it is for, its prompt and its tools.",
    cacheHint: ofTheUser,
    items: catalogue.skills,
    describe: describeSkill,
    list: async () =>
      [...catalogue.skills, ...(await backend.skills())].map(({ name, description }) => ({
        ...{ uri: `skill://${name}/SKILL.md`, name, description, mimeType: "text/markdown" },
      })),
    complete: (template, typed) => backend.complete({ template, variable: "name", typed, given: {} }),
  });
}

function registerNamed<Item extends { name: string }>(
  mcp: McpServer,
  backend: Backend,
  given: {
    scheme: string;
    title: string;
    description: string;
    cacheHint: { ttlMs: number; cacheScope: "public" | "private" };
    items: readonly Item[];
    describe(item: Item): unknown;
    /** Left out, they are not among the resources: the listing of tools has them. */
    list?(): Promise<Resource[]>;
    complete?(template: string, typed: string): Promise<readonly string[]>;
  },
): void {
  const { scheme, title, description, cacheHint, items, list } = given;
  const template = `${scheme}://{name}`;
  const beginning = (typed: string) => items.map(({ name }) => name).filter((name) => name.startsWith(typed));
  const name = async (typed: string) => [...((await given.complete?.(template, typed)) ?? beginning(typed))];
  mcp.registerResource(
    scheme,
    new ResourceTemplate(template, {
      list: list && (async () => ({ resources: await list() })),
      complete: { name },
    }),
    { title, description, mimeType, cacheHint },
    async (uri, variables, context) => {
      const item = items.find((one) => one.name === variables.name);
      if (!item) return backend.readResource(uri.href, context.mcpReq.signal);
      return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(given.describe(item), null, 2) }] };
    },
  );
}
