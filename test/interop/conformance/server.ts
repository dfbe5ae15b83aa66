import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { z } from "zod";
import { buildCatalogue, type CatalogueSkill } from "#mcp-server/registry/catalogue.ts";
import type { Subset } from "#mcp-server/registry/subset.ts";
import type { WireTool } from "#mcp-server/registry/wire.ts";
import type { Backend } from "#mcp-server/server/mcp/backend.ts";
import { createServer } from "#mcp-server/server/mcp/createServer.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { testBuild } from "../../fixtures/client.ts";
import { bearer, startHttp } from "../../fixtures/http.ts";
import { wireServices } from "../../fixtures/wire.ts";
import { fixtureTools, isFixtureTool, png, runFixtureTool } from "./tools.ts";

const skill = (name: string): CatalogueSkill => ({
  name,
  version: "1.0.0",
  description: `${name} is for the conformance suite.`,
  system_prompt: `You are ${name}.`,
  tools: ["list_hosts", "get_device_info"],
  markdown: `---\nname: ${name}\ndescription: ${name} is for the conformance suite.\n---\n\nYou are ${name}.\n`,
});

/**
 * The product's own HTTP side with its real tools listed, plus those that the scenarios call by name. The suite sends
 * no token, so it is added in front; Host and Origin are checked as for everybody.
 */
export async function startConformanceServer(): Promise<{ url: string; end(): Promise<void> }> {
  const product = buildCatalogue({
    tools,
    skills: [skill("first"), skill("second")],
    version: "0.0.0",
    build: testBuild,
  });
  const catalogue = { ...product, tools: [...product.tools, ...fixtureTools].sort(byName) };
  const http = await startHttp(wireServices(), tools, {
    catalogue,
    createServer: createFixtureServer,
    front: withToken,
  });
  return { url: http.url("/mcp"), end: http.end };
}

const withToken = (app: Hono): Hono =>
  new Hono().all("*", ({ req: { raw } }) => {
    const headers = new Headers(raw.headers);
    headers.set("authorization", bearer.authorization);
    return app.fetch(new Request(raw, { headers }));
  });

const byName = (a: WireTool, b: WireTool) => (a.name < b.name ? -1 : 1);

function createFixtureServer(subset: Subset, backend: Backend): McpServer {
  const mcp = createServer(subset, {
    ...backend,
    callTool: (call) => (isFixtureTool(call.name) ? runFixtureTool(call) : backend.callTool(call)),
    watch: async (uri, changed) =>
      uri === "test://watched-resource" ? () => {} : backend.watch(uri, changed),
  });
  registerResources(mcp);
  registerPrompts(mcp);
  return mcp;
}

function registerResources(mcp: McpServer): void {
  const text = "This is the content of the static text resource.";
  const given = {
    title: "Fixture",
    description: "Of the conformance suite.",
    cacheHint: { ttlMs: 1_000 },
  } as const;
  mcp.registerResource(
    "static-text",
    "test://static-text",
    { ...given, mimeType: "text/plain" },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: "text/plain", text }],
    }),
  );
  mcp.registerResource(
    "static-binary",
    "test://static-binary",
    { ...given, mimeType: "image/png" },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: "image/png", blob: png }],
    }),
  );
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { ...given, mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}

function registerPrompts(mcp: McpServer): void {
  const text = (said: string) => ({ role: "user" as const, content: { type: "text" as const, text: said } });
  const description = "Of the conformance suite.";
  mcp.registerPrompt("test_simple_prompt", { description }, () => ({
    messages: [text("This is a simple prompt for testing.")],
  }));
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    { description, argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({
      messages: [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
          },
        },
        text("Please process the embedded resource above."),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", { description }, () => ({
    messages: [
      { role: "user", content: { type: "image", mimeType: "image/png", data: png } },
      text("Please analyze the image above."),
    ],
  }));
}
