import { InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { z } from "zod";
import { buildCatalogue } from "#mcp-server/registry/catalogue.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { wholeCatalogue } from "#mcp-server/registry/subset.ts";
import { defineTool } from "#mcp-server/registry/tool.ts";
import { parseInput } from "#mcp-server/server/call/parseInput.ts";
import type { Backend } from "#mcp-server/server/mcp/backend.ts";
import { createServer } from "#mcp-server/server/mcp/createServer.ts";
import { tools } from "#mcp-server/tools/index.ts";

const plain = defineTool({
  ...{ name: "list_nothing", title: "Nothing", description: "Lists nothing.", domain: "screen" },
  ...{ capabilities: ["SCREENSHOT"], effect: "read", timeoutMs: 1_000 },
  input: z.strictObject({}),
  output: z.strictObject({}),
  handle: async () => ({}),
});

it.each([
  [undefined],
  [null],
  [{}],
  [{ random_string: "x" }],
  [{ dummy: "" }],
  [{ _placeholder: true }],
])("a tool without parameters takes %j, as hosts send it for nothing", (args) => {
  expect(parseInput(plain, args)).toEqual({});
});

it("an argument that is not a dummy is refused, and a tool with parameters takes no dummy", () => {
  expect(() => parseInput(plain, { device_id: "box" })).toThrow("device_id");
  const [withDevice] = tools.filter(({ name }) => name === "get_device_info");
  expect(() => withDevice && parseInput(withDevice, { dummy: "x" })).toThrow("dummy");
});

it("arguments that are null are none, on the wire", async () => {
  const asked: unknown[] = [];
  const backend: Backend = {
    callTool: async (call) => {
      asked.push(call.arguments);
      return { content: [] };
    },
    readResource: async () => ({ contents: [] }),
    complete: async () => [],
    listed: async () => [],
    skills: async () => [],
    watch: async () => () => undefined,
  };
  const catalogue = buildCatalogue({
    ...{ tools: [plain], skills: [], version: "0.0.0", build: { hash: "x", at: "2026-01-01T00:00:00.000Z" } },
  });
  const [host, ours] = InMemoryTransport.createLinkedPair();
  const server = createServer(wholeCatalogue(catalogue), backend);
  await server.connect(ours);
  const replies: unknown[] = [];
  host.onmessage = (message) => void replies.push(message);
  await host.start();
  const handshake = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "h", version: "1" },
  };
  await host.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: handshake });
  await host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const params = { name: "list_nothing", arguments: null };
  await host.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
  await expect.poll(() => replies.length).toBe(2);
  const src = expect.stringMatching(/^data:image\/svg\+xml,.{1,280}$/);
  expect(replies[0]).toMatchObject({ result: { serverInfo: { name: "labwright", icons: [{ src }] } } });
  expect(replies[1]).toMatchObject({ id: 2, result: { content: [] } });
  expect(asked).toEqual([{}]);
  await server.close();
});

it("every tool lists properties of its input, also one that has none", () => {
  const listed = buildCatalogue({
    ...{ tools: [...tools, plain], skills: [], version: "0.0.0", build: { hash: "x", at: "" } },
  }).tools;
  for (const { name, inputSchema } of listed) expect(inputSchema, name).toHaveProperty("properties");
});

it("a tool that is not there is never answered with one that does more than it promised", () => {
  const registry = createRegistry(tools);
  const effectOf = (name: string) => registry.find(name)?.effect;
  const nearTo = (name: string) => z.array(z.string()).parse(registry.notFound(name).details.available_tools);
  for (const { name } of tools.filter(({ effect }) => effect !== "read")) {
    const noun = name.split("_").slice(1).join("_");
    for (const verb of ["get", "show", "view", "fetch", "is"])
      if (effectOf(`${verb}_${noun}`) === undefined)
        for (const near of nearTo(`${verb}_${noun}`))
          expect(effectOf(near), `${verb}_${noun}: ${near}`).toBe("read");
  }
  expect(nearTo("delte_node")).toContain("delete_node");
  expect(nearTo("update_nodes")).toContain("update_node");
  expect(nearTo("update_nodes").map(effectOf)).not.toContain("destructive");
});
