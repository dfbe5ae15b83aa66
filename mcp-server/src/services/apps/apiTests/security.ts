import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ApiOperation, Params } from "../../../domain/index.ts";
import { keyOf } from "../apis/requests/operationRequest.ts";
import { isObject } from "../apis/spec/reader.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { type CaseInput, planned } from "./cases.ts";
import type { Good } from "./goodRequest.ts";
import { conditionOf, type Generated } from "./graphs.ts";
import { isFilled, type Values } from "./requests.ts";
import { flat, typeOf } from "./schemas.ts";
import type { Ask, Planned } from "./types.ts";
import { flow, requestIn, setupAsk, setupFor, type World } from "./world.ts";

/** One value of a request that can be replaced: a parameter of the path or query, or a field of the body. */
type Target = { field: string; schema: Params; value: unknown; sending(value: unknown): Values };

const attacked: ReadonlySet<string> = new Set(["string", "enum", "integer", "number"]);

function targetsOf({ parameters }: ApiOperation, good: Good, { definitions }: World["spec"]): Target[] {
  const { values, all, bodySchema } = good;
  const given = parameters.flatMap((parameter): Target[] => {
    const key = keyOf(parameter);
    if (parameter.in !== "path" && parameter.in !== "query") return [];
    const root = wholeSchema(parameter.schema, definitions, "request");
    const value = values.parameters[key] ?? all[key];
    const sending = (own: unknown) => ({ ...values, parameters: { ...values.parameters, [key]: own } });
    return [{ field: key, schema: flat(root, root), value, sending }];
  });
  const body = isObject(values.body) ? values.body : {};
  const fields = Object.entries(Object(flat(bodySchema, bodySchema).properties)).flatMap(
    ([name, part]): Target[] => {
      const sending = (own: unknown) => ({ ...values, body: { ...body, [name]: own } });
      const schema = flat(part, bodySchema);
      return body[name] === undefined ? [] : [{ field: `body.${name}`, schema, value: body[name], sending }];
    },
  );
  return [...given, ...fields].filter(({ schema }) => attacked.has(typeOf(schema)));
}

/** The value with more text behind it, also where the value is filled in later. */
const extended = (value: unknown, more: string): unknown =>
  isFilled(value) ? () => value() + encodeURIComponent(more) : `${value}${more}`;

const markOf = (operation: string, field: string): string =>
  `lw${createHash("sha256").update(`${operation} ${field}`).digest("hex").slice(0, 10)}`;
/** Shorter than most limits. A browser that gets it unescaped makes an element of it. */
const markupOf = (operation: string, field = ""): string => `<i id=${markOf(operation, field)}>`;

const isAddress = ({ field, schema }: Target): boolean =>
  typeOf(schema) === "string" &&
  (["uri", "url"].includes(String(schema.format)) ||
    /(url|uri|link|href|callback|webhook|endpoint)$/i.test(field));

/** Single requests: quotes (F200), markup (F201) and, with a listener, its address (F202). What they show is in `replyShows`. */
export function securityCases(input: CaseInput, listener: Listener | undefined): Planned[] {
  const { operation, good, world } = input;
  return targetsOf(operation, good, world.spec).flatMap((target) => {
    const { field, schema, value, sending } = target;
    const make = (trial: string, sent: unknown): Planned => {
      const said = { label: `${field} with ${trial}`, kind: "probe", field, trial } as const;
      return planned(input, { values: sending(sent) }, said);
    };
    const isText = typeOf(schema) === "string";
    return [
      make("quotes", extended(value, `'"`)),
      ...(isText ? [make("markup", markupOf(operation.id, field))] : []),
      ...(listener && isAddress(target) ? [make("an address", listener.urlOf(operation.id, field))] : []),
    ];
  });
}

/** What databases say of SQL that they cannot read: SQLite, PostgreSQL, MySQL, SQL Server, Oracle. */
const databaseError =
  /unrecognized token: |near "[^"]*": syntax error|SQLITE_ERROR|syntax error at or near|unterminated quoted (string|identifier)|error in your SQL syntax|Unclosed quotation mark|Incorrect syntax near|ORA-009\d\d|ORA-01756|SQLSTATE\[?42/i;

export const hasDatabaseError = (body: unknown): boolean =>
  databaseError.test(typeof body === "string" ? body : JSON.stringify(body ?? ""));

/** Whether a page has the markup of a request as it was sent. */
export const showsMarkup = ({ operation, field }: Ask, type: string, body: unknown): boolean =>
  /^text\/html\b/i.test(type) && typeof body === "string" && body.includes(markupOf(operation, field));

/**
 * Two conditions that are true and two that are false. For a server that takes them as text all four are alike but for their
 * numbers: a search for words finds with the false ones, which have both numbers, what it finds with the true ones if these agree.
 */
const pairs = [
  ["41", "41"],
  ["42", "42"],
  ["41", "42"],
  ["42", "41"],
] as const;

/** Reads with SQL conditions behind each value: F200 where the true ones give one reply, the false ones another, one of it the usual one. */
export async function injectionTests(operation: ApiOperation, world: World): Promise<Generated[]> {
  if (operation.method !== "GET" || !world.facts.get(operation.id)?.reached) return [];
  const good = await world.goodOf(operation, 0);
  const { asks: setup, parameters } = await setupFor(operation, { variant: 1 }, world);
  const values = { ...good.values, parameters: { ...good.values.parameters, ...parameters } };
  return targetsOf(operation, { ...good, values }, world.spec).flatMap(({ field, value, sending }) =>
    ["'", ""].flatMap((quote) =>
      ["AND", "OR"].map((word) => {
        const ask = (id: string, sent: unknown) => {
          const request = requestIn(operation, { values: sending(sent) }, world);
          return setupAsk(id, `${field} ${id}`, operation, request, []);
        };
        const asks = pairs.map(([one, other], at) =>
          ask(`try_${at + 1}`, extended(value, `${quote} ${word} ${quote}${one}${quote}=${quote}${other}`)),
        );
        const label = `${field} is taken as a value, not as SQL`;
        const said = { label, fault: "F200", operation: operation.id, field, shows: "try_3" } as const;
        const all = [...setup, ask("usual", value), ...asks, conditionOf("not_sql", notSql, said)];
        return flow(operation, `${field} with ${word} and ${quote || "no"} quote`, all, world);
      }),
    ),
  );
}

const same = (one: string, other: string): string =>
  `(${one}.output.status == ${other}.output.status && ${one}.output.body == ${other}.output.body)`;
const notSql = `!(${same("try_1", "try_2")} && ${same("try_3", "try_4")} && !${same("try_1", "try_3")} && (${same("usual", "try_1")} || ${same("usual", "try_3")}))`;

/** Addresses of this machine that a tested server should never ask. Closed by its owner. */
export type Listener = {
  urlOf(operation: string, field: string): string;
  wasCalled(ask: Pick<Ask, "operation" | "field" | "trial">): boolean;
  close(): void;
};

export async function openListener(): Promise<Listener> {
  const given = new Set<string>();
  const called = new Set<string>();
  const server = createServer(({ url = "" }, response) => {
    const mark = /^\/(\w+)/.exec(url)?.[1] ?? "";
    if (given.has(mark)) called.add(mark);
    response.writeHead(204).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    urlOf(operation, field) {
      given.add(markOf(operation, field));
      return `http://127.0.0.1:${port}/${markOf(operation, field)}`;
    },
    wasCalled: ({ operation, field = "", trial }) =>
      trial === "an address" && called.has(markOf(operation, field)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
