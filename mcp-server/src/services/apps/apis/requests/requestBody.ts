import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { ApiRequest, MultipartPart } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import type { Uploads } from "../../../policy/uploads.ts";
import type { Secrets } from "../../../ports.ts";
import { jsonText } from "../../../values/exactNumbers.ts";

/** All files of one body together. */
const largestFiles = 50_000_000;

export type Bodies = Pick<ApiRequest, "body" | "form" | "multipart" | "body_file">;
type Paths = Pick<Uploads, "path">;
type Sent = { body: string | Uint8Array; type: string };

/** The body to send, with its content type. Fills in secrets. Throws PATH_DENIED for a file outside uploads, and INPUT_TOO_LARGE. */
export async function bodyOf(
  bodies: Bodies,
  ports: { secrets: Secrets; uploads: Paths },
): Promise<Sent | undefined> {
  const { body, form, multipart } = ports.secrets.fill({
    body: bodies.body,
    form: bodies.form,
    multipart: bodies.multipart,
  });
  if (form) return { body: formText(form), type: "application/x-www-form-urlencoded" };
  if (multipart) return multipartOf(multipart, ports.uploads);
  if (bodies.body_file !== undefined) {
    const file = await fileOf(bodies.body_file, ports.uploads, largestFiles);
    return { body: file, type: "application/octet-stream" };
  }
  if (body === undefined) return undefined;
  if (typeof body === "string") return { body, type: "text/plain;charset=utf-8" };
  return { body: jsonText(body) ?? "null", type: "application/json" };
}

/** Each value with its name; a list is several of one name. */
export function pairsOf<Value>(fields: Readonly<Record<string, Value | Value[]>>): [string, Value][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, Value] => [name, one]),
  );
}

export function formText(form: NonNullable<Bodies["form"]>): string {
  return new URLSearchParams(
    pairsOf(form).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

async function multipartOf(fields: NonNullable<Bodies["multipart"]>, uploads: Paths): Promise<Sent> {
  const data = new FormData();
  let left = largestFiles;
  for (const [name, part] of pairsOf<MultipartPart>(fields)) {
    if (typeof part !== "object") {
      data.append(name, String(part));
      continue;
    }
    const bytes = await fileOf(part.file, uploads, left);
    left -= bytes.length;
    const type = part.content_type ?? "application/octet-stream";
    data.append(name, new Blob([bytes], { type }), part.filename ?? basename(part.file));
  }
  const whole = new Response(data);
  const type = whole.headers.get("content-type") ?? "multipart/form-data";
  return { body: new Uint8Array(await whole.arrayBuffer()), type };
}

async function fileOf(name: string, uploads: Paths, most: number) {
  const path = uploads.path(name);
  const { size } = await stat(path);
  if (size > most) {
    throw new ToolError(
      "INPUT_TOO_LARGE",
      `"${name}" makes the body larger than ${largestFiles / 1_000_000} MB.`,
      "Send smaller files, or in several requests.",
    );
  }
  return readFile(path);
}

/** Headers with secrets filled in; the type of the body unless a header says it. */
export function headersOf(
  headers: ApiRequest["headers"],
  sent: Sent | undefined,
  secrets: Secrets,
): Record<string, string> {
  const filled = secrets.fill(headers);
  const isTyped = Object.keys(filled).some((name) => name.toLowerCase() === "content-type");
  return sent === undefined || isTyped ? filled : { ...filled, "content-type": sent.type };
}
