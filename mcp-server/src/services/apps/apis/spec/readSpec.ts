import type { ApiSpec } from "../../../../domain/index.ts";
import { operationsOf } from "./operations.ts";
import type { Tools } from "./parameters.ts";
import { parseText, SpecProblem } from "./parseText.ts";
import { isObject, Reader, type SpecNode } from "./reader.ts";
import { Schemas } from "./schemas.ts";
import { securitySchemesOf, serversOf, swaggerServersOf } from "./servers.ts";

/** Texts of documents by their addresses; `root` is the one that is imported. */
export type SpecQuestion = { root: string; documents: Readonly<Record<string, string>> };
/** `missing` are the addresses of documents that are needed too; `problems` say why the document cannot be used. */
export type SpecAnswer =
  | { missing: string[] }
  | { problems: string[] }
  | { spec: Omit<ApiSpec, "name">; warnings: string[] };

/** Reads an OpenAPI 3 or Swagger 2 document. Fetches nothing. */
export function readSpec({ root, documents }: SpecQuestion): SpecAnswer {
  try {
    const parsed = new Map(Object.entries(documents).map(([url, text]) => [url, parsedAt(url, text, root)]));
    const reader = new Reader(root, parsed);
    const spec = specOf(reader);
    if (reader.missing.size > 0) return { missing: [...reader.missing] };
    if (reader.problems.length > 0) return { problems: reader.problems };
    const problem = sizeProblem(spec);
    return problem === undefined ? { spec, warnings: [...reader.warnings] } : { problems: [problem] };
  } catch (error) {
    if (error instanceof SpecProblem) return { problems: [error.message] };
    if (error instanceof RangeError) return { problems: ["it is nested too deep"] };
    throw error;
  }
}

/** Written out, shared parts (aliases of YAML) can be far longer than the document. */
const longestSpec = 40_000_000;

function sizeProblem(spec: object): string | undefined {
  try {
    if (JSON.stringify(spec).length <= longestSpec) return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return `its parts are repeated so often that it expands to more than ${longestSpec / 1_000_000} MB`;
}

function parsedAt(url: string, text: string, root: string): unknown {
  try {
    return parseText(text);
  } catch (error) {
    if (!(error instanceof SpecProblem) || url === root) throw error;
    throw new SpecProblem(`${url}: ${error.message}`);
  }
}

function specOf(reader: Reader): Omit<ApiSpec, "name"> {
  const root = reader.start();
  const format = formatOf(root, reader);
  const isSwagger2 = format === "2.0";
  const schemas = new Schemas(reader);
  const tools: Tools = { reader, schemas, isSwagger2 };
  const info = reader.child(root, "info") ?? { ...root, value: {} };
  const operations = operationsOf(root, tools);
  return {
    title: (reader.text(info, "title") ?? "").slice(0, 120),
    version: (reader.text(info, "version") ?? "").slice(0, 80),
    format,
    servers: isSwagger2 ? swaggerServersOf(root, tools) : defaultServers(root, tools),
    security_schemes: securitySchemesOf(root, tools),
    operations,
    // Last: these are what everything else refers to.
    definitions: schemas.definitions(),
  };
}

/** Without `servers` the API is where the document is. */
function defaultServers(root: SpecNode, tools: Tools): string[] {
  const { reader } = tools;
  if (reader.items(reader.child(root, "servers")).length > 0) return serversOf(root, tools);
  return reader.root.startsWith("http") ? [new URL(reader.root).origin] : [];
}

function formatOf(root: SpecNode, reader: Reader): ApiSpec["format"] {
  if (!isObject(root.value)) throw new SpecProblem("it is not an object with openapi or swagger");
  const { openapi, swagger } = root.value;
  if (openapi === undefined && swagger === undefined)
    throw new SpecProblem('it has neither "openapi" nor "swagger", so it is not an OpenAPI document');
  const version = String(openapi ?? swagger);
  if (openapi === undefined) {
    if (/^2(\.0)?$/.test(version)) return "2.0";
  } else if (/^3(\.0(\.|$)|$)/.test(version)) return "3.0";
  else if (/^3\.\d/.test(version)) {
    if (!version.startsWith("3.1")) reader.warnings.add(`OpenAPI ${version} is read as 3.1`);
    return "3.1";
  }
  throw new SpecProblem(`it is of version ${version.slice(0, 40)}; versions 2.0, 3.0 and 3.1 can be read`);
}
