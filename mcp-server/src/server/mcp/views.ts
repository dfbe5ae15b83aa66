import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Catalogue } from "../../registry/catalogue.ts";
import { type ViewName, viewNames } from "../../registry/tool.ts";
import type { WireTool } from "../../registry/wire.ts";
import type { Backend } from "./backend.ts";
import { type Icon, toolIcons } from "./icons.ts";

/** MCP Apps, https://github.com/modelcontextprotocol/ext-apps (SEP-1865). */
const extensionId = "io.modelcontextprotocol/ui";
export const viewMimeType = "text/html;profile=mcp-app";
const scheme = "ui://labwright/";

const capabilitySchema = z.object({
  extensions: z.object({ [extensionId]: z.object({ mimeTypes: z.array(z.string()) }) }),
});

/** Whether a host with these capabilities shows views of tool results. */
export function showsViews(capabilities: unknown): boolean {
  const { data } = capabilitySchema.safeParse(capabilities);
  return data?.extensions[extensionId]?.mimeTypes.includes(viewMimeType) === true;
}

/** The tools with their icons and the addresses of their views, for hosts that show views. The others get the catalogue's as they are. */
export const withViews = ({ tools, views }: Catalogue): (WireTool & { icons: Icon[] })[] =>
  tools.map((tool) => {
    const view = views[tool.name];
    const _meta = { ...tool._meta, ...(view && { ui: { resourceUri: scheme + view } }) };
    return { ...tool, icons: toolIcons.get(tool._meta["dev.labwright/domain"]) ?? [], _meta };
  });

type Offered = { enabled: boolean };

/** Offers the views as `ui://labwright/<view>`. They are in no listing: a host knows their addresses from the tools. */
export function registerViews(mcp: McpServer, backend: Backend): (uri: unknown) => void {
  const views: ReadonlyMap<string, Offered> = new Map(
    viewNames.map((name) => [scheme + name, offer(mcp, backend, name)]),
  );
  return (uri) => {
    const view = typeof uri === "string" ? views.get(uri) : undefined;
    if (view) view.enabled = true;
  };
}

/** Disabled, a resource is not listed; it is enabled when its address is first read. */
function offer(mcp: McpServer, backend: Backend, name: ViewName): Offered {
  const title = `View: ${name}`;
  const cacheHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;
  const view = mcp.registerResource(
    `view-${name}`,
    scheme + name,
    { title, mimeType: viewMimeType, cacheHint },
    (uri, context) => backend.readResource(uri.href, context.mcpReq.signal),
  );
  view.enabled = false;
  return view;
}
