import type { ApiSecurityScheme } from "../../../../domain/index.ts";
import type { Tools } from "./parameters.ts";
import type { SpecNode } from "./reader.ts";

/** Absolute addresses of `servers`, with the default of each variable. */
export function serversOf(node: SpecNode, { reader }: Tools): string[] {
  const found = reader.items(reader.child(node, "servers")).flatMap((server) => {
    const url = reader.text(server, "url");
    if (url === undefined) return [];
    const variables = reader.child(server, "variables");
    const filled = url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = variables && reader.child(variables, name);
      return (variable && reader.text(variable, "default")) ?? whole;
    });
    return absolute(filled, reader.root);
  });
  return [...new Set(found)];
}

/** Of Swagger 2: schemes, host and base path. */
export function swaggerServersOf(root: SpecNode, { reader }: Tools): string[] {
  const host = reader.text(root, "host");
  const base = reader.text(root, "basePath") ?? "";
  const path = base === "" || base.startsWith("/") ? base : `/${base}`;
  if (host === undefined) return absolute(path || "/", reader.root);
  const schemes = reader.texts(root, "schemes").filter((scheme) => /^https?$/.test(scheme));
  const from = /^(https?):/.exec(reader.root)?.[1] ?? "https";
  return (schemes.length > 0 ? schemes : [from]).flatMap((scheme) =>
    absolute(`${scheme}://${host}${path}`, reader.root),
  );
}

/** Relative to where the document was read, if that is an address. */
function absolute(url: string, root: string): string[] {
  const base = root.startsWith("http") ? root : undefined;
  if (!URL.canParse(url, base)) return [];
  const { protocol, origin, pathname } = new URL(url, base);
  return /^https?:$/.test(protocol) ? [`${origin}${pathname}`.replace(/\/+$/, "")] : [];
}

export function securitySchemesOf(root: SpecNode, tools: Tools): Record<string, ApiSecurityScheme> {
  const { reader } = tools;
  const components = reader.child(root, "components");
  const all = tools.isSwagger2
    ? reader.child(root, "securityDefinitions")
    : components && reader.child(components, "securitySchemes");
  return Object.fromEntries(
    reader.members(all).flatMap(({ key, node }) => {
      const scheme = schemeOf(node, tools);
      return scheme ? [[key, scheme] as const] : [];
    }),
  );
}

function schemeOf(node: SpecNode, { reader }: Tools): ApiSecurityScheme | undefined {
  const [type, place, name] = [reader.text(node, "type"), reader.text(node, "in"), reader.text(node, "name")];
  switch (type) {
    case "basic":
      return { type: "http", scheme: "basic" };
    case "http":
      return { type, scheme: (reader.text(node, "scheme") ?? "").toLowerCase() };
    case "apiKey":
      if (name !== undefined && (place === "query" || place === "header" || place === "cookie"))
        return { type, in: place, name };
      break;
    case "oauth2":
    case "openIdConnect":
    case "mutualTLS":
      return { type };
  }
  reader.warn(node, "is not a known kind of authentication and was left out");
  return undefined;
}
