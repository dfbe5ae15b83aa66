import { expect, it } from "vitest";
import { z } from "zod";
import { gateSchema } from "#mcp-server/cli/run/gateFile.ts";
import { builtInFactories } from "#mcp-server/config/controllers.ts";
import { configFileSchema } from "#mcp-server/config/schema.ts";

it("keeps the committed JSON Schema of labwright.yaml in step with the code", async () => {
  const schema = {
    title: "labwright.yaml",
    ...z.toJSONSchema(configFileSchema(builtInFactories), { io: "input" }),
  };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../mcp-server/docs/config.schema.json");
});

it("keeps the committed JSON Schema of a gate in step with the code", async () => {
  const schema = {
    title: "The rules of labwright run --gate",
    ...z.toJSONSchema(gateSchema, { io: "input" }),
  };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../mcp-server/docs/gate.schema.json");
});

it("has the top keys that the documentation names, and no other", () => {
  const shape = configFileSchema(builtInFactories).shape;
  expect(Object.keys(shape).sort()).toEqual([
    "agents",
    "devices",
    "environments",
    "folders",
    "limits",
    "matrix",
    "models",
    "secrets",
    "server",
    "unsafe",
    "url_policy",
    "web_server",
  ]);
});
