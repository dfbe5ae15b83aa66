import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Catalogue } from "../registry/catalogue.ts";

/** What the catalogue holds never changes within a build, and is no secret. */
const cacheHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;
const mimeType = "application/json";

/** Serves single tools as `tool://<name>` and skills as `skill://<name>`, each as JSON; hosts can complete the names. */
export function registerCatalogue(mcp: McpServer, { tools, skills }: Catalogue): void {
  registerNamed(mcp, {
    scheme: "tool",
    title: "Tool",
    description: "One tool's description, schemas and annotations, and the skills that have it.",
    items: tools,
  });
  registerNamed(mcp, {
    scheme: "skill",
    title: "Skill",
    description: "One skill: what it is for, its prompt and its tools.",
    items: skills.map(({ markdown: _, ...skill }) => skill),
  });
}

function registerNamed(
  mcp: McpServer,
  given: { scheme: string; title: string; description: string; items: readonly { name: string }[] },
): void {
  const { scheme, title, description, items } = given;
  const complete = (start: string) => items.map(({ name }) => name).filter((name) => name.startsWith(start));
  mcp.registerResource(
    scheme,
    new ResourceTemplate(`${scheme}://{name}`, { list: undefined, complete: { name: complete } }),
    { title, description, mimeType, cacheHint },
    (uri, { name }) => {
      const item = items.find((one) => one.name === name);
      if (!item) throw new ResourceNotFoundError(uri.href);
      return { contents: [{ uri: uri.href, mimeType, text: JSON.stringify(item, null, 2) }] };
    },
  );
}
