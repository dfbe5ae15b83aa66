import { createHash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { html, raw } from "hono/html";

type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;
type PathItem = NonNullable<Document["paths"]>[string];
type Operation = NonNullable<PathItem["get"]>;

const methods = ["get", "post", "delete"] as const;

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid; margin-top: 2rem; padding-top: .5rem; }
code, pre { font: .9rem/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; }
td { padding-right: 1.5rem; vertical-align: top; }
`;

/** Nothing but the page itself: no script, no request to anywhere. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The document as a page to read. */
export function documentPage(document: Document) {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title}</title>
<style>${raw(style)}</style>
<h1>${document.info.title}</h1>
<p>${document.info.description ?? ""}</p>
<p><a href="openapi.json">openapi.json</a></p>
${Object.entries(document.paths ?? {}).flatMap(([path, item]) => operations(path, item))}
<section><h2>Schemas</h2>
${Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => details(name, schema))}
</section>
</html>`;
}

const operations = (path: string, item: PathItem) =>
  methods.flatMap((method) => {
    const operation = item[method];
    return operation ? [section(method, path, operation)] : [];
  });

function section(method: string, path: string, operation: Operation) {
  return html`<section>
<h2><code>${method.toUpperCase()} ${path}</code></h2>
<p><b>${operation.summary ?? ""}</b>${operation.security ? "" : " (no credentials)"}</p>
<p>${operation.description ?? ""}</p>
${(operation.parameters ?? []).map((parameter) => details(parameterName(parameter), parameter))}
${operation.requestBody ? details("Body", operation.requestBody) : ""}
${Object.entries(operation.responses ?? {}).map(([status, response]) => details(status, response))}
</section>`;
}

const parameterName = (parameter: NonNullable<Operation["parameters"]>[number]): string =>
  "name" in parameter ? `${parameter.name} (${parameter.in})` : parameter.$ref;

const details = (name: string, value: unknown) =>
  html`<details><summary>${name}</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`;
