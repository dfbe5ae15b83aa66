import type { ApiOperation, ApiSecurityScheme, ApiSpec, Params } from "../../../domain/index.ts";
import { isForm, isJson, isMultipart } from "../apis/requests/media.ts";
import { scalar, type Writing, writeParameters } from "../apis/requests/operationRequest.ts";
import { isObject } from "../apis/spec/reader.ts";

/** What a request is made of. `body: undefined` sends none. Keys of `parameters` are as `path.id`. */
export type Values = {
  parameters: Readonly<Record<string, unknown>>;
  body?: unknown;
  /** The media type that the body is sent as. */
  media?: string | undefined;
};

/** Header, query and cookie values that prove who asks. */
export type Credentials = Readonly<Record<"header" | "query" | "cookie", Readonly<Record<string, string>>>>;
export const noCredentials: Credentials = { header: {}, query: {}, cookie: {} };

/** The fields of an `api_request` block. */
export type RequestFields = Params & { method: string; url: string; headers: Record<string, string> };

/** A part of the request that is filled in when it is sent: a function, since no data of a document is one. */
export type Filled = () => string;
export const fill =
  (expression: string): Filled =>
  () =>
    `{{${expression}}}`;
export const isFilled = (value: unknown): value is Filled => typeof value === "function";

/** `{{` of data is not a placeholder. */
export function literal(value: unknown): unknown {
  if (isFilled(value)) return value();
  if (typeof value === "string") return value.replaceAll("{{", "\\{{");
  if (Array.isArray(value)) return value.map(literal);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, literal(part)]))
    : value;
}

const writing: Writing = {
  text: (value) => (isFilled(value) ? value() : headerText(String(literal(scalar(value))))),
  encoded: (value) => (isFilled(value) ? value() : encodeURIComponent(scalar(value))),
};

/** The request to an operation; its server is given when the test runs. */
export function requestOf(
  operation: ApiOperation,
  { parameters, body, media }: Values,
  { credentials, method = operation.method }: { credentials: Credentials; method?: string },
): RequestFields {
  const written = writeParameters(operation, parameters, writing);
  const query = Object.entries(credentials.query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${value}`,
  );
  const own = Object.entries(credentials.cookie).map(([name, value]) => `${name}=${value}`);
  const { cookie = "", ...named } = written.headers;
  const cookies = [...(cookie === "" ? [] : [cookie]), ...own].join("; ");
  const accept = acceptedBy(operation);
  const headers = {
    ...(accept !== undefined && { accept }),
    ...named,
    ...credentials.header,
    ...(cookies !== "" && { cookie: cookies }),
  };
  const joint = written.url.includes("?") ? "&" : "?";
  const url = `{{base_url}}${written.url}${query.length > 0 ? `${joint}${query.join("&")}` : ""}`;
  return { method, url, headers, ...bodyFields(body, media, headers) };
}

/** JSON where it is offered, so that the reply can be judged by its schema. */
function acceptedBy({ responses }: ApiOperation): string | undefined {
  const types = [...new Set(Object.values(responses).flatMap(({ content }) => Object.keys(content)))];
  const concrete = types.filter((type) => !type.includes("*"));
  const json = concrete.filter(isJson);
  const wanted = json.length > 0 ? json : concrete;
  return wanted.length === 0 ? undefined : wanted.map((type) => type.split(";")[0]).join(", ");
}

function bodyFields(body: unknown, media: string | undefined, headers: Params): Params {
  if (body === undefined || media === undefined) return {};
  if (isForm(media)) return formFields(body, media);
  Object.assign(headers, { "content-type": media === "*/*" ? "application/json" : media });
  // A text goes as it is: as JSON it needs its quotes.
  const isText = typeof body === "string" && !isJson(media);
  return { body: isObject(body) || Array.isArray(body) || isText ? literal(body) : JSON.stringify(body) };
}

function formFields(body: unknown, media: string): Params {
  const pairs = Object.entries(isObject(body) ? body : {}).map(([name, value]) => [
    name,
    literal(formValue(value)),
  ]);
  return { [isMultipart(media) ? "multipart" : "form"]: Object.fromEntries(pairs) };
}

const formValue = (value: unknown) => (Array.isArray(value) ? value.map(scalar) : scalar(value));

const headerText = (text: string): string => text.replace(/[^\t\x20-\x7e]/g, "?");

/** Credentials by name of a security scheme, or of a header. Values may name secrets: `{{secret.TOKEN}}`. */
export type Role = Readonly<Record<string, string>>;

/** A server that looks only whether something is there takes it. */
const madeUp = "labwright";

/** What the first way in asks for. What the role lacks is made up: then nothing is known of wrong credentials. */
export function credentialsOf(
  { security }: ApiOperation,
  { security_schemes: schemes }: ApiSpec,
  role: Role | undefined,
): Credentials {
  const known = (names: string[]) => names.filter((name) => role?.[name] !== undefined).length;
  const ways = security.map((way) => Object.keys(way)).sort((one, other) => known(other) - known(one));
  const [way = []] = ways;
  const others = Object.entries(role ?? {}).filter(([name]) => !Object.hasOwn(schemes, name));
  const found = way.map((name) => credentialOf(schemes[name], role?.[name]));
  return {
    header: Object.assign(Object.fromEntries(others), ...found.map((one) => one.header)),
    query: Object.assign({}, ...found.map((one) => one.query)),
    cookie: Object.assign({}, ...found.map((one) => one.cookie)),
  };
}

function credentialOf(scheme: ApiSecurityScheme | undefined, value: string | undefined): Credentials {
  if (!scheme || scheme.type === "mutualTLS") return noCredentials;
  if (scheme.type === "apiKey") {
    const { in: place = "header", name = "authorization" } = scheme;
    return { ...noCredentials, [place]: { [name]: value ?? madeUp } };
  }
  const isBasic = scheme.scheme === "basic";
  const text = value ?? (isBasic ? `${madeUp}:${madeUp}` : madeUp);
  const isPair = isBasic && text.includes(":") && !text.includes("{{");
  const sent = isPair ? Buffer.from(text).toString("base64") : text;
  return { ...noCredentials, header: { authorization: `${isBasic ? "Basic" : "Bearer"} ${sent}` } };
}

/** Whether a request without credentials must be refused, as far as credentials are sent in requests. */
export const needsCredentials = (
  { security }: ApiOperation,
  { security_schemes: schemes }: ApiSpec,
): boolean =>
  security.length > 0 &&
  security.every((way) =>
    Object.keys(way).some((name) => schemes[name] && schemes[name].type !== "mutualTLS"),
  );
