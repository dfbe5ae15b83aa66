import { z } from "zod";
import {
  attachScriptFiles,
  deviceFields,
  maxTokensField,
  runFields,
  scriptEnd,
  waitField,
} from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

export const listScripts = defineTool({
  name: "list_scripts",
  title: "List scripts",
  description: "Scripts (Python, Node, bash) that execute_script runs",
  domain: "scripts",
  capabilities: ["CODE_EXECUTION"],
  effect: "read",
  timeoutMs: 30_000,
  input: z.strictObject(maxTokensField(2_000)),
  output: z.object({
    scripts: z.array(
      z.object({
        name: z.string(),
        language: z.string(),
        description: z.string().optional(),
        needs: z.array(z.string()).optional().describe("Permissions that it asks for"),
        shipped: z.boolean().optional().describe("Comes with the server"),
      }),
    ),
    more: z.int().optional().describe("Not shown; raise max_tokens"),
  }),
  async handle({ input, services }) {
    const { scripts, more } = await services.scripts.list(input.max_tokens);
    return {
      scripts: scripts.map(({ name, language, description, needs, shipped }) => ({
        name,
        language,
        ...(description !== undefined && { description }),
        ...(needs.length > 0 && { needs: [...needs] }),
        ...(shipped && { shipped }),
      })),
      ...(more > 0 && { more }),
    };
  },
});

export const executeScript = defineTool({
  name: "execute_script",
  title: "Run a script",
  description:
    "Run a script in a sandbox on a device and wait for its verdict: passed, failed, error (could not be judged), cancelled or timeout",
  domain: "scripts",
  capabilities: ["CODE_EXECUTION", "TESTING"],
  effect: "write",
  timeoutMs: 660_000,
  input: z.strictObject({
    script: z.string().min(1).max(200).describe("As in list_scripts"),
    args: z.array(z.string().max(4_000)).max(50).default([]),
    ...deviceFields,
    userinterface_name: z.string().min(1).max(200).optional(),
    ...waitField,
    timeout_ms: z.int().min(1_000).optional().describe("Of the run; default 30 min"),
  }),
  output: z.object({
    ...runFields,
    ...scriptEnd,
  }),
  async handle({ input, services, context, attach }) {
    const { log, ...reply } = await services.scripts.execute(input, context);
    await attachScriptFiles({ ...reply, log }, { services, attach });
    return reply;
  },
});
