import { nearest } from "@labwright/controllers";
import { z } from "zod";
import { ToolError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import { aliasesOf, seedDomainNames, seedDomainsOf } from "../registry/seedNames.ts";
import { type AnyTool, capabilities, domains } from "../registry/tool.ts";
import { maxRetries, wireSchema } from "../registry/wire.ts";

const domainNames = [...domains, ...seedDomainNames];

export const toolSchema = z.object({
  name: z.string(),
  description: z.string(),
  aliases: z.array(z.string()).optional().describe("Names of seed 002 for it."),
  capabilities: z.array(z.enum(capabilities)),
  domain: z.enum(domains),
  seed_domains: z.array(z.enum(seedDomainNames)).describe("Its domains as seed 002 names them."),
  timeout: z.int().describe("The longest a call may take, in ms."),
  max_retries: z.int().describe("0 where a repetition could do something twice."),
  schema: z.looseObject({}).describe("JSON Schema of the arguments."),
});
export const toolQuerySchema = z.object({
  capability: z
    .array(z.enum(capabilities))
    .optional()
    .describe("Tools with any of these; repeated, or separated by commas."),
  domain: z.enum(domainNames).optional(),
});

/** The tools that a query asks for, sorted by name. Throws INVALID_INPUT for an unknown capability or domain. */
export function toolsOf(registry: Registry, query: Readonly<Record<string, string[]>>, maxCallMs?: number) {
  const wanted = (query.capability ?? []).flatMap((text) => text.split(",")).filter((name) => name !== "");
  const tools = registry.filter({
    ...(query.capability && { capabilities: wanted.map((name) => oneOf(capabilities, name, "capability")) }),
    ...(query.domain && { domain: oneOf(domainNames, query.domain.at(-1) ?? "", "domain") }),
  });
  return tools.map((tool) => describe(tool, maxCallMs));
}

const describe = (tool: AnyTool, maxCallMs = tool.timeoutMs): z.input<typeof toolSchema> => ({
  name: tool.name,
  description: tool.description,
  ...(aliasesOf(tool.name).length > 0 && { aliases: aliasesOf(tool.name) }),
  capabilities: [...tool.capabilities],
  domain: tool.domain,
  seed_domains: seedDomainsOf(tool),
  timeout: Math.min(tool.timeoutMs, maxCallMs),
  max_retries: maxRetries(tool),
  schema: wireSchema(tool.input, "input"),
});

function oneOf<Name extends string>(names: readonly Name[], given: string, what: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  const near = nearest(given, names, 5);
  throw new ToolError(
    "INVALID_INPUT",
    `There is no ${what} ${JSON.stringify(given.slice(0, 100))}.`,
    near.length > 0 ? `Nearest: ${near.join(", ")}.` : `There are ${names.join(", ")}.`,
    { nearest: near },
  );
}
