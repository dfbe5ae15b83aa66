import type { Params } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { mapStrings } from "../../values/strings.ts";

const limits = { bytes: 65_536, depth: 32 };

/**
 * A payload as a JSON column takes it: plain data, without the characters that PostgreSQL refuses in JSON (NUL and lone
 * surrogates); nothing is cut. Throws INPUT_TOO_LARGE over 64 KB of JSON or 32 levels.
 */
export function storablePayload(payload: Params): Params {
  if (isDeeper(payload, limits.depth)) throw tooLarge(`is deeper than ${limits.depth} levels`);
  const plain = mapStrings(payload, storableString);
  const bytes = Buffer.byteLength(JSON.stringify(plain));
  if (bytes > limits.bytes) throw tooLarge(`is ${bytes} bytes of JSON, over ${limits.bytes}`);
  return plain;
}

/** Stops at the limit, so that no depth can be too much for it. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** A round trip through UTF-8 replaces lone surrogates. */
const storableString = (text: string) =>
  Buffer.from(text.replaceAll("\u0000", "\ufffd"), "utf8").toString("utf8");

const tooLarge = (what: string) =>
  new ToolError("INPUT_TOO_LARGE", `payload ${what}.`, "Send what a reader needs and a link to the rest.", {
    max_bytes: limits.bytes,
    max_depth: limits.depth,
  });
