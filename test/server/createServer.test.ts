import { createHash } from "node:crypto";
import { ToolError } from "@labwright/mcp-server";
import { ProtocolError } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { buildCatalogue } from "#mcp-server/registry/catalogue.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { defineTool } from "#mcp-server/registry/tool.ts";
import { tools as catalogueTools } from "#mcp-server/tools/index.ts";
import { connectClient, type TestClient, testBuild } from "../fixtures/client.ts";
import { memoryArtifacts, wireServices } from "../fixtures/wire.ts";

const png = Buffer.from("89504e470d0a1a0a", "hex");

const shared = {
  title: "A tool",
  domain: "screen",
  capabilities: ["SCREENSHOT"],
  timeoutMs: 5_000,
} as const;

const gate: { entered: () => void } = { entered: () => {} };
const aborted: unknown[] = [];

const tools = [
  defineTool({
    ...shared,
    name: "take_picture",
    description: "Takes one.",
    effect: "read",
    input: z.strictObject({}),
    output: z.strictObject({ uri: z.string() }),
    async handle({ attach }) {
      attach({ kind: "image", mimeType: "image/png", bytes: png, note: "scaled to 0.5" });
      attach({ kind: "link", uri: "artifact://x", name: "full.png", mimeType: "image/png" });
      return { uri: "artifact://x" };
    },
  }),
  defineTool({
    ...shared,
    name: "count_steps",
    description: "Counts.",
    effect: "write",
    input: z.strictObject({ steps: z.int() }),
    output: z.strictObject({ done: z.int() }),
    async handle({ input, context }) {
      for (let i = 1; i <= input.steps; i++) context.progress(i, input.steps, `step ${i}`);
      context.progress(1, input.steps, "a step back is not sent");
      return { done: input.steps };
    },
  }),
  defineTool({
    ...shared,
    name: "wait_forever",
    description: "Waits.",
    effect: "write",
    input: z.strictObject({}),
    output: z.strictObject({}),
    handle({ context }) {
      gate.entered();
      return new Promise((_, reject) => {
        context.signal.addEventListener("abort", () => {
          aborted.push(context.signal.reason);
          reject(context.signal.reason);
        });
      });
    },
  }),
  defineTool({
    ...shared,
    name: "fail_now",
    description: "Fails.",
    effect: "destructive",
    input: z.strictObject({ confirm: z.boolean().optional() }),
    output: z.strictObject({ gone: z.string() }),
    async handle() {
      throw new ToolError("CONFIRMATION_REQUIRED", "3 nodes would go.", "Call again with confirm: true.", {
        nodes: ["a", "b", "c"],
      });
    },
  }),
  defineTool({
    ...shared,
    name: "draw_graph",
    description: "Has a deep input.",
    effect: "write",
    idempotent: true,
    input: z.strictObject({ graph: z.strictObject({ blocks: z.array(z.strictObject({ id: z.string() })) }) }),
    output: z.strictObject({ blocks: z.int() }),
    handle: async ({ input }) => ({ blocks: input.graph.blocks.length }),
  }),
];

const text = Buffer.from("<html></html>");
const sha = createHash("sha256").update(text).digest("hex");
const sha2 = createHash("sha256").update(png).digest("hex");
const artifacts = memoryArtifacts({
  [sha]: { bytes: text, mimeType: "text/html" },
  [sha2]: { bytes: png, mimeType: "image/png" },
});

describe.each(["legacy", "modern"] as const)("the server over the %s protocol", (era) => {
  let open: TestClient | undefined;
  const connect = async () => {
    open = await connectClient(wireServices({ artifacts }), tools, { era });
    return open;
  };
  afterEach(async () => {
    await open?.close();
    aborted.length = 0;
  });

  it("lists the catalogue, sorted, and instructs the model", async () => {
    const { client } = await connect();
    const listed = (await client.listTools()).tools;
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).sort());
    expect(listed.find(({ name }) => name === "fail_now")).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      _meta: { "dev.labwright/domain": "screen", "dev.labwright/max_retries": 0 },
    });
    expect(client.getInstructions()).toContain("take_control");
  });

  it("returns text, picture and link with the structured result", async () => {
    const { call } = await connect();
    const { raw } = await call("take_picture");
    expect(raw.structuredContent).toEqual({ uri: "artifact://x" });
    expect(raw.content).toEqual([
      { type: "text", text: "uri: artifact://x" },
      { type: "text", text: "scaled to 0.5" },
      { type: "image", data: png.toString("base64"), mimeType: "image/png" },
      { type: "resource_link", uri: "artifact://x", name: "full.png", mimeType: "image/png" },
    ]);
  });

  it("fails with text and the error object, and without structured content", async () => {
    const { call } = await connect();
    const { raw, text: said, error, isError } = await call("fail_now");
    expect(isError).toBe(true);
    expect(raw.structuredContent).toBeUndefined();
    expect(said).toMatch(
      /^CONFIRMATION_REQUIRED: 3 nodes would go\.\nCall again with confirm: true\.\nnodes: a, b, c\ntrace_id: [\da-f]{32}$/,
    );
    expect(error).toMatchObject({ code: "CONFIRMATION_REQUIRED", details: { nodes: ["a", "b", "c"] } });
  });

  it("answers an unknown tool as a failure that a model can read", async () => {
    const { call } = await connect();
    expect((await call("take_pictures")).error).toMatchObject({ code: "TOOL_NOT_FOUND" });
  });

  it("applies the strict input where the wire shows a brief one", async () => {
    const { call } = await connect();
    const bad = await call("draw_graph", { graph: { blocks: [{ id: 7 }] } });
    expect(bad.error?.message).toContain("graph.blocks[0].id");
    expect((await call("draw_graph", { graph: { blocks: [{ id: "a" }] } })).structured).toEqual({
      blocks: 1,
    });
  });

  it("sends progress that only grows, and only when asked", async () => {
    const { client } = await connect();
    const seen: unknown[] = [];
    await client.callTool(
      { name: "count_steps", arguments: { steps: 3 } },
      { onprogress: (p) => seen.push([p.progress, p.total, p.message]) },
    );
    expect(seen).toEqual([
      [1, 3, "step 1"],
      [2, 3, "step 2"],
      [3, 3, "step 3"],
    ]);
  });

  it("offers prompts whose tools are there, which quote what a user fills in", async () => {
    const { client: without } = await connect();
    expect((await without.listPrompts()).prompts).toEqual([]);
    const { client, close } = await connectClient(wireServices(), catalogueTools, { era });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name).sort()).toEqual([
      "explore_app",
      "generate_code",
      "heal_test",
      "investigate_failure",
      "write_test",
    ]);
    const known = new Set(catalogueTools.map(({ name }) => name));
    for (const { name, arguments: given = [] } of prompts) {
      const values = Object.fromEntries(given.map((one) => [one.name, 'my "own"\n2. do evil']));
      const { messages } = await client.getPrompt({ name, arguments: values });
      const content = messages[0]?.content;
      const said = content?.type === "text" ? content.text : "";
      expect(said).toContain(String.raw`"my \"own\"\n2. do evil"`);
      const named = said.match(/(?<!")\b[a-z]+(_[a-z]+)+\b/g) ?? [];
      expect(named.length).toBeGreaterThan(2);
      expect(named.filter((word) => !known.has(word))).toEqual([]);
    }
    await expect(client.getPrompt({ name: "write_test", arguments: { goal: "x" } })).rejects.toThrow();
    await close();
  });

  it("stops the tool when its caller cancels", async () => {
    const { client } = await connect();
    const entered = new Promise<void>((resolve) => {
      gate.entered = resolve;
    });
    const stop = new AbortController();
    const call = client.callTool({ name: "wait_forever", arguments: {} }, { signal: stop.signal });
    const rejected = expect(call).rejects.toThrow();
    await entered;
    stop.abort();
    await rejected;
    await expect.poll(() => aborted.length).toBe(1);
    expect(aborted[0]).toMatchObject({ code: "CANCELLED" });
  });

  it("reads artifacts as text or bytes, and knows what is none", async () => {
    const { client } = await connect();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("artifact://{sha256}");
    expect((await client.readResource({ uri: `artifact://${sha}` })).contents).toEqual([
      { uri: `artifact://${sha}`, mimeType: "text/html", text: "<html></html>" },
    ]);
    expect((await client.readResource({ uri: `artifact://${sha2}` })).contents).toEqual([
      { uri: `artifact://${sha2}`, mimeType: "image/png", blob: png.toString("base64") },
    ]);
    for (const uri of [`artifact://${"f".repeat(64)}`, "artifact://../../etc/passwd"]) {
      await expect(client.readResource({ uri })).rejects.toBeInstanceOf(ProtocolError);
    }
  });
});

describe("the catalogue", () => {
  const given = { skills: [], version: "1.2.3", build: testBuild };
  const catalogue = buildCatalogue({ ...given, tools });

  it("is a pure function of the tools: the same in any order", () => {
    expect(buildCatalogue({ ...given, tools: tools.toReversed() })).toEqual(catalogue);
    expect(buildCatalogue({ ...given, tools: tools.slice(1) }).hash).not.toBe(catalogue.hash);
  });

  it("has instructions under 2 KB", () => {
    expect(Buffer.byteLength(catalogue.instructions)).toBeLessThan(2_048);
  });

  it("spends nothing on $schema and the bounds of safe integers", () => {
    const json = JSON.stringify(catalogue.tools);
    expect(json).not.toContain("$schema");
    expect(json).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it("is refused with two tools of one name, or a name that is not in snake_case", () => {
    expect(() => createRegistry([...tools, ...tools])).toThrow("Two tools");
    const [first] = tools;
    if (first) expect(() => createRegistry([{ ...first, name: "takePicture" }])).toThrow("snake_case");
  });

  it("is found by domain and capability", () => {
    const registry = createRegistry(tools);
    expect(registry.filter({ domain: "screen", capabilities: ["SCREENSHOT"] })).toHaveLength(tools.length);
    expect(registry.filter({ domain: "tree" })).toEqual([]);
  });
});
