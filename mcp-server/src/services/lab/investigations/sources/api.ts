import { shortened } from "@labwright/controllers";
import { ToolError } from "../../../../errors.ts";
import { type Access, type Http, headersOf, send } from "./access.ts";
import { type Limits, mostBytes, unreachable } from "./source.ts";

export type ApiRequest = {
  method: string;
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
};

/**
 * Asks a mapped API. Returns its JSON, or its text where it is none. Throws CONNECTION_REFUSED, REQUEST_TIMEOUT, INVALID_RESPONSE (a
 * status of 400 or more, over 1 MB), URL_DENIED, and the signal's reason.
 */
export async function askApi(
  { name, access, http }: { name: string; access: Access & { endpoint: string }; http: Http },
  { method, path, query, headers, body }: ApiRequest,
  limits: Limits,
): Promise<unknown> {
  const url = new URL(access.endpoint.replace(/\/$/, "") + path);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json";
  const request = {
    method,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": type }),
      ...headers,
      ...headersOf(access),
    },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    maxBytes: mostBytes,
  };
  const response = await send({ name, http, url }, request, limits);
  const text = await response.text();
  if (response.status === 401 || response.status === 403)
    throw unreachable(name, `it answers ${method} ${path} with ${response.status}`);
  if (!response.ok)
    throw new ToolError(
      "INVALID_RESPONSE",
      `${name} answered ${method} ${path} with ${response.status}: ${shortened(text, 200)}`,
      "Check the path and its parameters in the skill.",
      { status: response.status },
    );
  return read(name, response, text);
}

function read(name: string, response: Response, text: string): unknown {
  if (!/[/+]json\b/i.test(response.headers.get("content-type") ?? "")) return text;
  try {
    return text === "" ? null : JSON.parse(text);
  } catch (error) {
    const message = `${name} announced JSON and sent something else: ${shortened(text, 80)}`;
    throw new ToolError("INVALID_RESPONSE", message, "Look at what the API answers.", {}, { cause: error });
  }
}
