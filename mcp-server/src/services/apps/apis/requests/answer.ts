import { ToolError } from "../../../../errors.ts";
import { parseJson, TooDeep } from "../../../values/exactNumbers.ts";

/** What a request got. `body` is JSON as data where the server says that it is JSON and it is; else the text. */
export type Answer = {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  duration_ms: number;
  /** Why a body that was said to be JSON is none. */
  not_json?: string;
};

export async function answerOf(response: Response, durationMs: number): Promise<Answer> {
  const headers = Object.fromEntries(response.headers.entries());
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 1) headers["set-cookie"] = cookies.join("\n");
  const type = headers["content-type"] ?? "";
  const text = textOf(new Uint8Array(await response.arrayBuffer()), type);
  const answer = { status: response.status, headers, body: text, duration_ms: durationMs };
  if (text === "" || !/[/+]json\b/i.test(type)) return answer;
  return { ...answer, ...parsedJson(text) };
}

export function parsedJson(text: string): { body: unknown } | { not_json: string } {
  try {
    return { body: parseJson(text) };
  } catch (error) {
    if (error instanceof TooDeep) throw tooDeep(error);
    return { not_json: error instanceof Error ? error.message : String(error) };
  }
}

const byteOrderMarks: readonly [charset: string, mark: readonly number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
];

/** By its byte order mark, else by the charset of its content type, else UTF-8. */
export function textOf(bytes: Uint8Array, contentType: string): string {
  const marked = byteOrderMarks.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte));
  const [, named] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  return decoderOf(marked?.[0] ?? named ?? "utf-8").decode(bytes);
}

function decoderOf(charset: string) {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    throw new ToolError(
      "INVALID_RESPONSE",
      `The answer's charset is "${charset}", which is not known.`,
      "Its content type needs a charset of the WHATWG Encoding standard, such as utf-8, iso-8859-1 or shift_jis.",
      {},
      { cause: error },
    );
  }
}

const tooDeep = ({ message }: TooDeep) =>
  new ToolError(
    "INVALID_RESPONSE",
    `The answer's JSON cannot be read. ${message}.`,
    "Ask the API for less, or look at what it answers.",
  );
