import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { readEnvironment } from "../../mcp-server/src/config/environment.ts";
import type { Problem } from "../../mcp-server/src/config/source.ts";

/** "Version ranges are rejected", and npm knows no others. */
const version = z.string().regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/);

const inputSchema = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  default: z.string().optional(),
  choices: z.array(z.string()).optional(),
  value: z.string().optional(),
};

/**
 * What the schema of 2025-12-11 says of the fields that we use, and stricter: it lets unknown keys pass. The rest is of
 * https://modelcontextprotocol.io/registry/package-types.
 */
const serverSchema = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: version.max(255),
  packages: z
    .array(
      z.strictObject({
        registryType: z.literal("npm"),
        identifier: z.string(),
        version,
        runtimeHint: z.literal("npx"),
        transport: z.strictObject({ type: z.literal("stdio") }),
        packageArguments: z.array(
          z.strictObject({ type: z.literal("positional"), ...inputSchema, value: z.string() }),
        ),
        environmentVariables: z.array(z.strictObject({ name: z.string(), ...inputSchema })),
      }),
    )
    .length(1),
});

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  mcpName: z.string().optional(),
  bin: z.object({ labwright: z.string() }),
});

const server = () => serverSchema.parse(JSON.parse(readFileSync("server.json", "utf8")));

it("describes the package that has the command, in its version", () => {
  const own = packageSchema.parse(JSON.parse(readFileSync("package.json", "utf8")));
  const { name, version, packages } = server();
  expect(version).toBe(own.version);
  expect(packages[0]).toMatchObject({ identifier: own.name, version: own.version });
  // The registry takes a package only when it names the server.
  expect(own.mcpName ?? name).toBe(name);
});

it("starts the bridge", () => {
  expect(server().packages[0]?.packageArguments).toEqual([{ type: "positional", value: "mcp" }]);
});

it("names only variables that exist, with defaults that they take", () => {
  const variables = server().packages.flatMap(({ environmentVariables }) => environmentVariables);
  expect(variables.length).toBeGreaterThan(0);
  for (const { name, choices, default: usual } of variables) {
    if (usual !== undefined) expect(choices).toContain(usual);
    for (const value of choices ?? ["x"]) {
      const problems: Problem[] = [];
      readEnvironment({ [name]: value }, problems);
      expect(problems, name).toEqual([]);
    }
  }
});
