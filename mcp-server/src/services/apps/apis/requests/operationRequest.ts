import { nearest } from "@labwright/controllers";
import type { ApiOperation, ApiParameter, Params } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import { isObject } from "../spec/reader.ts";

/** `url` without its server. */
export type WrittenParameters = { url: string; headers: Record<string, string> };

/** How a value becomes text: as it is, and as a part of an address. */
export type Writing = { text(value: unknown): string; encoded(value: unknown): string };

export const scalar = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);

const plainWriting: Writing = {
  text: scalar,
  encoded: (value) => encodeURIComponent(scalar(value)),
};

/** `path.petId`: unique in an operation. */
export const keyOf = ({ in: place, name }: Pick<ApiParameter, "in" | "name">): string => `${place}.${name}`;

/** Writes parameters where and how the operation says. `values` has them by {@link keyOf}; others are left out. */
export function writeParameters(
  { path, parameters }: ApiOperation,
  values: Params,
  { text, encoded }: Writing = plainWriting,
): WrittenParameters {
  const given = parameters.flatMap((one) => {
    const value = values[keyOf(one)];
    return value === undefined
      ? []
      : [{ one, value: one.content_type === undefined ? value : JSON.stringify(value) }];
  });
  const at = (place: ApiParameter["in"]) => given.filter(({ one }) => one.in === place);
  const filled = at("path").reduce(
    (url, { one, value }) => url.replaceAll(`{${one.name}}`, () => pathText(one, value, encoded)),
    path,
  );
  const query = at("query").flatMap(({ one, value }) => queryPairs(one, value, encoded));
  const cookies = at("cookie").map(({ one, value }) => `${one.name}=${list(one, value, encoded)}`);
  return {
    url: `${filled}${query.length > 0 ? `${filled.includes("?") ? "&" : "?"}${query.join("&")}` : ""}`,
    headers: {
      ...Object.fromEntries(at("header").map(({ one, value }) => [one.name, list(one, value, text)])),
      ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
    },
  };
}

type Write = Writing["text"];

/** Items with commas between. */
function list({ explode }: ApiParameter, value: unknown, write: Write, comma = ","): string {
  if (Array.isArray(value)) return value.map(write).join(comma);
  if (!isObject(value)) return write(value);
  return Object.entries(value)
    .map(([key, part]) => `${write(key)}${explode ? "=" : ","}${write(part)}`)
    .join(comma);
}

function pathText(parameter: ApiParameter, value: unknown, write: Write): string {
  const { name, style, explode } = parameter;
  if (style === "label") return `.${list(parameter, value, write, explode ? "." : ",")}`;
  if (style !== "matrix") return list(parameter, value, write);
  if (!explode || typeof value !== "object") return `;${name}=${list(parameter, value, write)}`;
  if (Array.isArray(value)) return value.map((one: unknown) => `;${name}=${write(one)}`).join("");
  return `;${list(parameter, value, write, ";")}`;
}

const separators: Readonly<Record<string, string>> = {
  spaceDelimited: "%20",
  pipeDelimited: "|",
  tabDelimited: "%09",
};

function queryPairs(parameter: ApiParameter, value: unknown, write: Write): string[] {
  const { style, explode } = parameter;
  const name = encodeURIComponent(parameter.name);
  if (Array.isArray(value)) {
    if (explode) return value.map((one: unknown) => `${name}=${write(one)}`);
    return [`${name}=${list(parameter, value, write, separators[style] ?? ",")}`];
  }
  if (!isObject(value)) return [`${name}=${write(value)}`];
  const parts = Object.entries(value);
  if (style === "deepObject") return parts.map(([key, part]) => `${name}%5B${write(key)}%5D=${write(part)}`);
  if (explode) return parts.map(([key, part]) => `${write(key)}=${write(part)}`);
  return [`${name}=${list(parameter, value, write)}`];
}

/**
 * Values by {@link keyOf}, of values by name or by `query.name` where two places have one name. Throws INVALID_INPUT for a name
 * that the operation does not have, and for a part of the path that is missing.
 */
export function namedParameters(operation: ApiOperation, params: Params): Params {
  const { id, parameters, path } = operation;
  const entries = Object.entries(params).map(([name, value]): [string, unknown] => {
    const found = parameters.filter((one) => keyOf(one) === name || one.name === name);
    const [first] = found;
    if (first && found.length === 1) return [keyOf(first), value];
    const names =
      found.length > 1
        ? found.map(keyOf)
        : nearest(
            name,
            parameters.map((one) => one.name),
          );
    const what = found.length > 1 ? `several parameters "${name}"` : `no parameter "${name}"`;
    throw new ToolError(
      "INVALID_INPUT",
      `${id} has ${what}.`,
      names.length > 0 ? `Write one of ${names.join(", ")}.` : `Its parameters: ${namesOf(parameters)}.`,
    );
  });
  const values = Object.fromEntries(entries);
  const missing = parameters.filter((one) => one.in === "path" && values[keyOf(one)] === undefined);
  if (missing.length === 0) return values;
  throw new ToolError(
    "INVALID_INPUT",
    `${id} needs params ${namesOf(missing)} for its path ${path}.`,
    "Give each of them a value.",
  );
}

const namesOf = (parameters: readonly ApiParameter[]) =>
  parameters.map(({ name }) => name).join(", ") || "none";
