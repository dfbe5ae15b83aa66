import { z } from "zod";
import type { Subset } from "../../registry/subset.ts";

/** Their answers depend on the address and the request alone, and are large. */
const listings: ReadonlySet<string> = new Set([
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "server/discover",
  "tools/list",
]);
/** What of a request's head the protocol looks at. */
const headNames = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version"];
/** Addresses and clients differ without end, and the listing of all tools has about 100 KB. */
const maxKept = 64;
/** Stands for the id while an answer is made that serves every id. */
const anyId = "labwright-any-id";

const requestSchema = z.looseObject({ id: z.union([z.string(), z.int()]), method: z.string() });
/** `subset` is what the address served when it was made. */
type Kept = { subset: Subset; before: Uint8Array; after: Uint8Array };

/**
 * Answers the listings of 2026-07-28 with text that is made once: the SDK answers the first of each kind of request, and
 * what is the same but for its id gets the same bytes. Serializing the tools anew takes ten times what the rest does.
 */
export function createListingCache(answer: (request: Request) => Promise<Response>) {
  const kept = new Map<string, Kept>();

  async function make(request: Request, asked: object, subset: Subset): Promise<Kept | undefined> {
    const response = await answer(withBody(request, JSON.stringify({ ...asked, id: anyId })));
    const parts = inAscii(messageIn(await response.text())).split(JSON.stringify(anyId));
    const [before, after, ...more] = parts;
    if (!response.ok || before === undefined || after === undefined || more.length > 0) return undefined;
    return { subset, before: Buffer.from(before), after: Buffer.from(after) };
  }

  return {
    /** Only the revisions from 2026-07-28 on have this head. */
    isListing: ({ method, headers }: Request) =>
      method === "POST" &&
      listings.has(headers.get("mcp-method") ?? "") &&
      (headers.get("mcp-protocol-version") ?? "") >= "2026-07-28",

    /** `subset` is that of the request's address; a new one is a new listing. */
    async serve(request: Request, subset: Subset): Promise<Response> {
      const text = await request.text();
      const asked = readRequest(text);
      if (!asked || !request.headers.get("accept")?.includes("application/json"))
        return answer(withBody(request, text));
      const { id, ...rest } = asked;
      const key = JSON.stringify([request.url, headNames.map((name) => request.headers.get(name)), rest]);
      const before = kept.get(key);
      const found = before?.subset === subset ? before : await make(request, rest, subset);
      // What the protocol refuses is refused under its own id.
      if (!found) return answer(withBody(request, text));
      if (kept.size >= maxKept) kept.clear();
      kept.set(key, found);
      const body = Buffer.concat([found.before, Buffer.from(JSON.stringify(id)), found.after]);
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
  };
}

function readRequest(text: string): z.output<typeof requestSchema> | undefined {
  try {
    return requestSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const withBody = ({ url, method, headers, signal }: Request, body: string): Request =>
  new Request(url, { method, headers, signal, body });

/** Every client decodes and parses it: text of one byte a character takes half the time. */
const inAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The one message of an event stream. */
const messageIn = (stream: string): string => /^data: (.*)$/m.exec(stream)?.[1] ?? "";
