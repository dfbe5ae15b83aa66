import { ToolError } from "../../../../errors.ts";

/** What a request got. `body` is JSON as data where the server says that it is JSON and it is; else the text. */
export type Answer = {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  duration_ms: number;
  /** Why a body that was said to be JSON is none. */
  not_json?: string;
};

/** Deeper JSON would break whoever walks through it. */
const deepest = 500;

export async function answerOf(response: Response, durationMs: number): Promise<Answer> {
  const headers = Object.fromEntries(response.headers.entries());
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 1) headers["set-cookie"] = cookies.join("\n");
  const text = await response.text();
  const answer = { status: response.status, headers, body: text, duration_ms: durationMs };
  if (text === "" || !/[/+]json\b/i.test(headers["content-type"] ?? "")) return answer;
  const parsed = parse(text);
  if ("not_json" in parsed) return { ...answer, ...parsed };
  refuseDeep(parsed.body);
  return { ...answer, ...parsed };
}

function parse(text: string): { body: unknown } | { not_json: string } {
  try {
    return { body: JSON.parse(text) };
  } catch (error) {
    return { not_json: error instanceof Error ? error.message : String(error) };
  }
}

function refuseDeep(value: unknown): void {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= deepest; depth++) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return;
  }
  throw new ToolError(
    "INVALID_RESPONSE",
    `The answer's JSON is nested deeper than ${deepest} levels.`,
    "Ask the API for less, or look at what it answers.",
  );
}
