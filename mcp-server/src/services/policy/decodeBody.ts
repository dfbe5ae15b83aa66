import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const inflateZlib = promisify(inflate);
const inflateBare = promisify(inflateRaw);
/** Some servers send `deflate` without its zlib wrapper, whose first byte has 8 in its low half. */
const deflated: Decode = (bytes, options) =>
  ((bytes[0] ?? 0) & 15) === 8 ? inflateZlib(bytes, options) : inflateBare(bytes, options);

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: deflated,
};

/**
 * A body without its content encodings, the last one first. Throws an Error that says why there is none: an encoding that is
 * not known (Node 20 has no zstd), bytes that are not what the header says, or more than `maxBytes`.
 */
export async function decodeBody(
  encodings: string,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const names = encodings.toLowerCase().split(",");
  const wanted = names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
  let decoded = bytes;
  if (bytes.length === 0) return decoded;
  for (const name of wanted.reverse()) decoded = await decodeOne(name, decoded, maxBytes);
  return decoded;
}

async function decodeOne(name: string, bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (!decode) {
    const known = Object.keys(decoders).join(", ");
    throw new Error(`its content-encoding is ${name}; only ${known} can be decoded`);
  }
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
      throw new Error(`its answer is longer than ${maxBytes} bytes once decoded`, { cause: error });
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`its content-encoding is ${name}, and its body is not valid ${name}: ${why}`, {
      cause: error,
    });
  }
}
