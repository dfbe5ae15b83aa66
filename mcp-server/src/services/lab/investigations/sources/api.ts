import { ToolError } from "../../../../errors.ts";
import { type Access, type Http, headersOf } from "./access.ts";
import { mostBytes, tooSlow, unreachable } from "./source.ts";

export type ApiRequest = {
  method: string;
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
};

/** POST is how many APIs are searched. */
const allowed: ReadonlySet<string> = new Set(["GET", "HEAD", "POST"]);

/**
 * Asks a mapped API. Returns its JSON, or its text where it is none. Throws CONFIRMATION_REQUIRED for PUT, PATCH and DELETE,
 * CONNECTION_REFUSED, REQUEST_TIMEOUT, INVALID_RESPONSE (a status of 400 or more, over 1 MB), URL_DENIED, and the signal's reason.
 */
export async function askApi(
  { name, access, http }: { name: string; access: Access & { endpoint: string }; http: Http },
  { method, path, query, headers, body }: ApiRequest,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<unknown> {
  if (!allowed.has(method))
    throw new ToolError(
      "CONFIRMATION_REQUIRED",
      `An investigation only reads, and ${method} ${path} would change ${name}.`,
      "Make it a recommended_action, which a person approves and carries out.",
    );
  const url = new URL(access.endpoint.replace(/\/$/, "") + path);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const late = AbortSignal.timeout(timeoutMs);
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
    signal: AbortSignal.any([signal, late]),
    maxBytes: mostBytes,
  };
  const response = await http(url.href, request).catch((error: unknown) => {
    signal.throwIfAborted();
    if (late.aborted) throw tooSlow(name, timeoutMs);
    throw asSource(name, error);
  });
  const text = await response.text();
  if (response.status === 401 || response.status === 403)
    throw unreachable(name, `it answers ${method} ${path} with ${response.status}`);
  if (!response.ok)
    throw new ToolError(
      "INVALID_RESPONSE",
      `${name} answered ${method} ${path} with ${response.status}: ${text.slice(0, 200)}`,
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
    const message = `${name} announced JSON and sent something else: ${text.slice(0, 80)}`;
    throw new ToolError("INVALID_RESPONSE", message, "Look at what the API answers.", {}, { cause: error });
  }
}

/** A server that does not answer is a source that cannot be reached. */
export function asSource(name: string, error: unknown): unknown {
  if (error instanceof ToolError && error.code === "APP_UNREACHABLE")
    return unreachable(name, error.message.replace(/\.$/, ""), error);
  return error;
}
