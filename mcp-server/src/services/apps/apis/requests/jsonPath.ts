import { ToolError } from "../../../../errors.ts";
import { kindOf } from "../../../values/dataFindings.ts";

type Step = { key: string | number } | "every";
/** A path of RFC 9535 with names, indices and `[*]`. */
export type JsonPath = readonly Step[];

const token =
  /\.?\*|\.([\p{L}_][\p{L}\p{N}_-]*)|\[(-?\d{1,9})\]|\[\*\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/uy;

/** Throws INVALID_INPUT for anything else than names, indices and `[*]`. A path may leave `$.` out. */
export function parseJsonPath(text: string): JsonPath {
  const source = text.startsWith("[") ? text : text.replace(/^(?!\$)/, ".").replace(/^\$/, "");
  const steps: Step[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const found = token.exec(source);
    if (!found) throw notAPath(text);
    steps.push(stepOf(found));
  }
  return steps;
}

function stepOf([, name, index, single, double]: RegExpExecArray): Step {
  const key = name ?? single ?? double;
  if (key !== undefined) return { key: key.replace(/\\(.)/g, "$1") };
  return index === undefined ? "every" : { key: Number(index) };
}

/** A path that leads nowhere says where it ended and what is there. */
export type Found = { path: string } & ({ value: unknown } | { missing: string });

/** Every value that the path leads to, in order. Without `[*]` it is one. */
export function findAll(path: JsonPath, root: unknown): Found[] {
  return walk(path, { path: "$", value: root });
}

function walk(path: JsonPath, at: { path: string; value: unknown }): Found[] {
  const [step, ...rest] = path;
  if (step === undefined) return [at];
  if (step === "every") {
    const items = itemsOf(at.value);
    if (items.length === 0) return [{ path: `${at.path}[*]`, missing: `${at.path} is ${kindOf(at.value)}` }];
    return items.flatMap(([key, value]) => walk(rest, { path: at.path + keyText(key), value }));
  }
  const path_ = at.path + keyText(step.key);
  const value = valueAt(at.value, step.key);
  return value === undefined
    ? [{ path: path_, missing: `${at.path} is ${kindOf(at.value)}` }]
    : walk(rest, { path: path_, value });
}

function itemsOf(value: unknown): (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [index, item] as const);
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function valueAt(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value.at(key) : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

/** What a JSON Pointer leads to below a value, with its path. */
export function atPointer(pointer: string, root: { path: string; value: unknown }) {
  const parts = pointer.split("/").slice(1);
  return parts.reduce((at, part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const key = Array.isArray(at.value) ? Number(name) : name;
    return { path: at.path + keyText(key), value: valueAt(at.value, key) };
  }, root);
}

const keyText = (key: string | number): string => {
  if (typeof key === "number") return `[${key}]`;
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(key) ? `.${key}` : `['${key.replace(/['\\]/g, "\\$&")}']`;
};

const notAPath = (text: string) =>
  new ToolError(
    "INVALID_INPUT",
    `"${text}" is not a JSON path that can be checked.`,
    "Use names, indices and [*], such as $.items[0].id; for anything else use a condition block.",
  );
