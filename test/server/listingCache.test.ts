import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import type { CatalogueSkill } from "../../mcp-server/src/registry/catalogue.ts";
import { defineTool } from "../../mcp-server/src/registry/tool.ts";
import { createServer } from "../../mcp-server/src/server/mcp/createServer.ts";
import { bearer, connectHttp, type HttpFixture, startHttp } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const look = defineTool({
  name: "look",
  title: "Look",
  description: "Looks → there.",
  domain: "devices",
  capabilities: ["DEVICE_STATUS"],
  effect: "read",
  timeoutMs: 1_000,
  input: z.strictObject({}),
  output: z.object({}),
  handle: async () => ({}),
});
const ownSkill = (prompt: string): CatalogueSkill => ({
  name: "own",
  version: "1.0.0",
  description: "Own.",
  system_prompt: prompt,
  tools: ["look"],
  markdown: "",
});

let http: HttpFixture;
let made = 0;
let skills = [ownSkill("Look once.")];
beforeEach(async () => {
  made = 0;
  http = await startHttp(wireServices(), [look], {
    userSkills: () => skills,
    createServer(...given) {
      made += 1;
      return createServer(...given);
    },
  });
});
afterEach(() => http.end());

const answerSchema = z.object({
  id: z.union([z.string(), z.int()]),
  result: z
    .looseObject({
      tools: z.array(z.object({ name: z.string(), description: z.string() })).optional(),
      instructions: z.string().optional(),
    })
    .optional(),
  error: z.object({ code: z.int() }).optional(),
});

async function ask(id: string | number, method: string, options: { path?: string; header?: string } = {}) {
  const response = await fetch(http.url(options.path ?? "/mcp"), {
    method: "POST",
    headers: {
      ...bearer,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": options.header ?? method,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, ...answerSchema.parse(JSON.parse(json)) };
}

it("a listing is made once and answers every request under its own id", async () => {
  const [first, second, third] = [
    await ask(1, "tools/list"),
    await ask('a "quoted" id', "tools/list"),
    await ask(3, "prompts/list"),
  ];
  expect(first.result?.tools).toEqual([expect.objectContaining({ description: "Looks → there." })]);
  expect(second).toEqual({ ...first, id: 'a "quoted" id' });
  expect(third.id).toBe(3);
  expect(made).toBe(2);
});

it("a 2025 client that names its method in a header, as mcp-remote does, is answered by its session", async () => {
  const { client, transport } = await connectHttp(http.url("/mcp"), "legacy", { "mcp-method": "tools/list" });
  expect((await client.listTools()).tools).toHaveLength(1);
  expect(transport.sessionId).toBeDefined();
  await client.close();
});

it("what the protocol refuses is refused each time, under its own id", async () => {
  for (const id of [1, 2]) {
    const refused = await ask(id, "prompts/list", { header: "tools/list" });
    expect(refused).toMatchObject({ status: 400, id, error: { code: -32020 } });
  }
});

it("an address whose skill the user changes has another answer at once", async () => {
  const told = async () => (await ask(1, "server/discover", { path: "/mcp?skill=own" })).result?.instructions;
  expect(await told()).toContain("Look once.");
  skills = [ownSkill("Look twice.")];
  expect(await told()).toContain("Look twice.");
  skills = [];
  const gone = await fetch(http.url("/mcp?skill=own"), { method: "POST", headers: bearer, body: "{}" });
  expect(gone.status).toBe(400);
});
