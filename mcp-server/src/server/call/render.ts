import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { Attachment } from "../../registry/tool.ts";
import type { CallOutcome } from "./call.ts";
import type { CallError } from "./callError.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An object in one line up to this many characters; past it, a line for each field. */
const inlineLimit = 400;

/**
 * The one renderer from a typed result to what a model reads: `key: value` lines, a list of objects as one line each,
 * text of several lines as a block at the end. Left out: undefined, null, "". Never JSON, ANSI codes or data: URLs.
 */
export function renderResult(result: Fields): string {
  const fields = Object.entries(result).filter(([, value]) => isPresent(value));
  const blocks = fields.filter(([, value]) => isBlock(value));
  const rest = fields.filter(([, value]) => !isBlock(value));
  const lines = [...rest, ...blocks].flatMap(([key, value]) => fieldLines(key, value));
  return lines.length > 0 ? lines.join("\n") : "done";
}

/** `CODE: message`, the hint, one line for each detail, and the trace id. */
export function renderError(
  error: Pick<CallError, "message" | "hint" | "details" | "trace_id"> & { code: string },
): string {
  const details = Object.entries(error.details).filter(
    ([, value]) => isPresent(value) && !isEmptyList(value),
  );
  return [
    `${error.code}: ${continued(error.message)}`,
    ...(error.hint === "" ? [] : [continued(error.hint)]),
    ...details.flatMap(([key, value]) => fieldLines(key, value)),
    `trace_id: ${error.trace_id}`,
  ].join("\n");
}

/** Further lines are set in, since a message may quote a page. */
const continued = (text: string): string => clean(text).replaceAll("\n", "\n  ");

function fieldLines(key: string, value: unknown): string[] {
  if (isBlock(value)) return [`${key}:`, ...blockLines(key, clean(value))];
  if (Array.isArray(value)) return listLines(key, value);
  if (!isFields(value)) return [`${key}: ${scalar(value)}`];
  const line = inlineFields(value);
  if (line.length <= inlineLimit && !line.includes("\n")) return line === "" ? [] : [`${key}: ${line}`];
  return [`${key}:`, ...indented(renderResult(value).split("\n"))];
}

/** Blocks whose lines we write ourselves, with the text of others in quotes, and what an author saved. */
const ownBlocks: ReadonlySet<string> = new Set([
  "screen",
  "elements",
  "changes",
  "steps",
  "yaml",
  "testcase",
]);

/** Text of a page, a server or a program must not pass for a field of the reply, an item of a list in it, or an element. */
function blockLines(key: string, text: string): string[] {
  const lines = text.split("\n");
  const imitates = lines.some((line) => /^(?:\w+:(?: |$)|- |(?:f\d+)?e\d+ )/.test(line));
  return imitates && !ownBlocks.has(key) ? indented(lines) : lines;
}

function listLines(key: string, items: readonly unknown[]): string[] {
  if (items.length === 0) return [`${key}: none`];
  if (!items.some((item) => isFields(item) || isBlock(item)))
    return [`${key}: ${items.map(inline).join(", ")}`];
  return [`${key}:`, ...items.flatMap(itemLines)];
}

function itemLines(item: unknown): string[] {
  if (!isFields(item)) return isBlock(item) ? blockItem(clean(item)) : [`- ${inline(item)}`];
  const present = Object.entries(item).filter(([, value]) => isPresent(value));
  const blocks = present.filter(([, value]) => isBlock(value));
  const rest = Object.fromEntries(present.filter(([, value]) => !isBlock(value)));
  return [`- ${inlineFields(rest)}`, ...indented(blocks.flatMap(([key, value]) => fieldLines(key, value)))];
}

function blockItem(text: string): string[] {
  const [first = "", ...rest] = text.split("\n");
  return [`- ${first}`, ...indented(rest)];
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isFields(value)) return `{${inlineFields(value)}}`;
  const text = scalar(value);
  // Quoted only where it would be unclear where the value ends.
  return typeof value === "string" && /^$|^\s|\s$|[\n,{}[\]]|: /.test(text) ? JSON.stringify(text) : text;
}

const inlineFields = (fields: Fields): string =>
  Object.entries(fields)
    .filter(([, value]) => isPresent(value) && !isEmptyList(value))
    .map(([key, value]) => `${key}: ${inline(value)}`)
    .join(", ");

const scalar = (value: unknown): string => (typeof value === "string" ? clean(value) : String(value));

/** ESC sequences (ECMA-48 CSI and OSC), other control characters, and the bytes of data: URLs, which say nothing to a model. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const control = /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f]/g;
const dataUrl = /\bdata:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+)*,[^\s"'<>)]*/gi;

function clean(text: string): string {
  return text.replace(ansi, "").replaceAll("\r\n", "\n").replace(control, "").replace(dataUrl, shortDataUrl);
}

/** A short one in plain text is probably typed by a person. */
function shortDataUrl(url: string, type: string | undefined): string {
  const isText = url.length <= 80 && !url.includes(";base64,");
  return isText ? url : `[${type ?? "text"} data, ${url.length} characters]`;
}

/** Reports and logs. A model looks at pictures itself, and their addresses would fill its context. */
const isForPeople = (mimeType: string | undefined) => mimeType === "text/html" || mimeType === "text/plain";

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isBlock = (value: unknown): value is string => typeof value === "string" && value.trim().includes("\n");

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function isPresent(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return !(isFields(value) && Object.values(value).every((inner) => !isPresent(inner)));
}

/**
 * A call's end on the wire. A failure has no structuredContent: 1.x clients would check it against the output schema and
 * throw. The error itself is in `_meta["dev.labwright/error"]`, the trace id in `_meta["dev.labwright/trace_id"]`.
 */
export function toMcp(outcome: CallOutcome, linkTo: LinkTo = () => undefined): CallToolResult {
  const trace = { "dev.labwright/trace_id": outcome.trace_id };
  if (!outcome.ok) {
    return {
      isError: true,
      content: [{ type: "text", text: renderError(outcome.error) }],
      _meta: { ...trace, "dev.labwright/error": outcome.error },
    };
  }
  return {
    structuredContent: outcome.structured,
    content: [
      { type: "text", text: outcome.text },
      ...outcome.attachments.flatMap((item) => toContent(item, linkTo)),
    ],
    _meta: { ...trace, ...Object.fromEntries(outcome.attachments.flatMap(toMeta)) },
  };
}

/** The address at which a person opens a resource; undefined for one that people cannot open. */
type LinkTo = (uri: string) => string | undefined;

/** What only the tool's view reads: hosts give models no `_meta`. */
const toMeta = (attachment: Attachment): [string, unknown][] =>
  attachment.kind === "view" ? [["dev.labwright/view", attachment.data]] : [];

function toContent(attachment: Attachment, linkTo: LinkTo): ContentBlock[] {
  if (attachment.kind === "view") return [];
  if (attachment.kind === "link") {
    const { uri, name, mimeType } = attachment;
    const link = isForPeople(mimeType) ? linkTo(uri) : undefined;
    return [
      {
        type: "resource_link",
        uri,
        name,
        mimeType,
        ...(link !== undefined && { description: `Open ${link}` }),
      },
    ];
  }
  const data = Buffer.from(attachment.bytes).toString("base64");
  const image: ContentBlock = { type: "image", data, mimeType: attachment.mimeType };
  return attachment.note === "" ? [image] : [{ type: "text", text: attachment.note }, image];
}
