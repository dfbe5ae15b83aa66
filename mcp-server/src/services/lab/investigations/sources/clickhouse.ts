import { shortened } from "@labwright/controllers";
import { z } from "zod";
import { ToolError } from "../../../../errors.ts";
import { type Access, type Http, headersOf, send } from "./access.ts";
import {
  Bounded,
  type Limits,
  mostBytes,
  mostRows,
  type QuerySource,
  refused,
  textOf,
  tooMuch,
  tooSlow,
  unreachable,
} from "./source.ts";

/** What the server gets to end a query by itself, before the request is cut. */
const graceMs = 1_000;
/** Codes in src/Common/ErrorCodes.cpp of ClickHouse. */
const codes = { timeout: 159, tooManyRows: 396, tooManyBytes: 307, authentication: 516 };

/** A user and a password, or a token. */
function signIn({ values }: Access): Record<string, string> {
  const [user, password] = values;
  if (user === undefined || password === undefined) return headersOf({ values });
  return { "x-clickhouse-user": user, "x-clickhouse-key": password };
}

const replySchema = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

/**
 * ClickHouse by HTTP. Values travel as `param_` arguments, typed in the query's text; the server may only read, ends the query at
 * `max_execution_time`, and when its client goes.
 */
export function createClickhouseSource(
  name: string,
  access: () => Access & { endpoint: string },
  http: Http,
): QuerySource {
  return {
    async query(statement, { signal, timeoutMs }: Limits) {
      const query = `${textOf(statement, (at, value) => `{p${at}:${typeOf(value)}}`)} FORMAT JSON`;
      const given = access();
      const url = new URL(given.endpoint);
      const settings = {
        query,
        // Reads, and the settings below: 1 would refuse these.
        readonly: "2",
        max_execution_time: String(Math.ceil(timeoutMs / 1_000)),
        max_result_rows: String(mostRows),
        max_result_bytes: String(mostBytes * 4),
        result_overflow_mode: "throw",
        cancel_http_readonly_queries_on_client_close: "1",
        output_format_json_quote_64bit_integers: "0",
      };
      for (const [key, value] of Object.entries(settings)) url.searchParams.set(key, value);
      for (const [at, value] of statement.values.entries())
        url.searchParams.set(`param_p${at}`, paramOf(value));
      const request = { headers: signIn(given), maxBytes: mostBytes * 8, followRedirects: false };
      const atMost = { signal, timeoutMs: timeoutMs + graceMs };
      const response = await send({ name, http, url }, request, atMost);
      const text = await response.text();
      if (!response.ok) throw failure(name, response, { text, timeoutMs });
      const bounded = new Bounded(name);
      for (const row of rowsIn(name, text)) bounded.add(row);
      return bounded.rows;
    },
    close: async () => undefined,
  };
}

/** A response that began well may end in an exception, which is text behind the JSON. */
function rowsIn(name: string, text: string) {
  try {
    return replySchema.parse(JSON.parse(text)).data;
  } catch (error) {
    const exception = /Code: \d+\. DB::Exception:[^\n]*/.exec(text)?.[0];
    if (exception) throw refused(name, shortened(exception, 300));
    throw new ToolError(
      "INVALID_RESPONSE",
      `${name} answered with what is not ClickHouse's JSON.`,
      "Check that endpoint is the HTTP interface of ClickHouse (port 8123 by default).",
      {},
      { cause: error },
    );
  }
}

function failure(name: string, response: Response, { text, timeoutMs }: { text: string; timeoutMs: number }) {
  const code = Number(response.headers.get("x-clickhouse-exception-code") ?? /^Code: (\d+)/.exec(text)?.[1]);
  const reason = shortened(text.trim().split("\n")[0] ?? "", 300).replace(/\.$/, "");
  if (code === codes.timeout) return tooSlow(name, timeoutMs);
  if (code === codes.tooManyRows || code === codes.tooManyBytes)
    return tooMuch(name, `${mostRows} rows or ${mostBytes} bytes`);
  if (code === codes.authentication || [401, 403].includes(response.status) || Number.isNaN(code))
    return unreachable(name, `status ${response.status} ${reason}`.trim());
  return refused(name, reason);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "Nullable(String)";
  if (typeof value === "boolean") return "Bool";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "Int64" : "Float64";
  if (Array.isArray(value)) return `Array(${value.length === 0 ? "String" : typeOf(value[0])})`;
  return isInstant(value) ? "DateTime64(3, 'UTC')" : "String";
}

/** As the time ranges of mappings are: ISO 8601 in UTC. */
const isInstant = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value);

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
};
const escaped = (text: string) => text.replace(/[\\\t\n\r\0]/g, (found) => escapes[found] ?? found);

/** Parameters are read as fields of the TabSeparated format. */
function paramOf(value: unknown): string {
  if (value === null || value === undefined) return "\\N";
  if (Array.isArray(value)) return `[${value.map(elementOf).join(",")}]`;
  if (isInstant(value)) return value.replace("T", " ").replace("Z", "");
  return escaped(typeof value === "string" ? value : String(JSON.stringify(value)));
}

const elementOf = (value: unknown): string =>
  typeof value === "string"
    ? `'${escaped(escaped(value).replaceAll("'", "\\'"))}'`
    : String(JSON.stringify(value));
