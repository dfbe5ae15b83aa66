import type { Request } from "playwright-core";
import { shortened } from "../../elements/quoted.ts";
import { endsWithin } from "../../waiting/deadlines.ts";
import { hideCredentials } from "./credentials.ts";

/** An answer that is still coming, such as a stream, has no body yet. */
const BODY_MS = 1_000;
const LONGEST_SHOWN = 2_000;
/** Credentials are looked for in so many characters; what follows is not shown. */
const LONGEST_SEARCHED = 20_000;
/** An answer that says that it is longer is not fetched from the browser. */
const LONGEST_READ = 2_000_000;

const textTypes = /json|text\/|xml|javascript|x-www-form-urlencoded|multipart\/form-data|graphql/i;

/** The text of an answer. Undefined while it is under way. The browser keeps no bodies of redirects and of previous pages. */
export async function answerOf(request: Request): Promise<string | undefined> {
  const response = request.existingResponse();
  if (response === null) return undefined;
  let text: string | undefined;
  const reading = response.text().then((read) => {
    text = read;
  });
  await endsWithin(reading, BODY_MS);
  return text;
}

/** What a request sent, cut and without credentials; undefined if it sent nothing. What is not text is `[12 bytes of image/png]`. */
export function shownSent(request: Request): string | undefined {
  const bytes = request.postDataBuffer();
  if (bytes === null || bytes.length === 0) return undefined;
  const type = request.headers()["content-type"] ?? "text/plain";
  return isText(type) ? shownText(bytes.toString("utf8")) : `[${bytes.length} bytes of ${typeOnly(type)}]`;
}

/** The same of its answer; undefined if there is none. Waits a second at most. Never throws. */
export async function shownAnswer(request: Request): Promise<string | undefined> {
  const response = request.existingResponse();
  if (response === null) return undefined;
  const { "content-type": type = "text/plain", "content-length": length } = response.headers();
  if (!isText(type)) return `[${length === undefined ? "" : `${length} bytes of `}${typeOnly(type)}]`;
  if (Number(length) > LONGEST_READ) return `[${length} bytes, not read]`;
  const text = await answerOf(request);
  if (text !== undefined) return text === "" ? undefined : shownText(text);
  return "[not there: it is still coming, or the browser has not kept it]";
}

const isText = (type: string): boolean => textTypes.test(type);
const typeOnly = (type: string): string => shortened(type.split(";", 1)[0] ?? "", 100);

/** Without what no JSON column takes and no terminal should get. */
export const shownText = (text: string, longest = LONGEST_SHOWN): string =>
  shortened(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
    hideCredentials(text.slice(0, LONGEST_SEARCHED)).replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, " "),
    longest,
  );
