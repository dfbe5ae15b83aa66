import { promisify } from "node:util";
import { crc32, deflateRaw, inflateRaw } from "node:zlib";

const inflate = promisify(inflateRaw);
const deflate = promisify(deflateRaw);

/** Signatures and places of PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16. */
const signatures = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const localBytes = 30;
const centralBytes = 46;
const endBytes = 22;
const methods = { stored: 0, deflated: 8 } as const;
/** Bit 11: names are UTF-8. */
const utf8Names = 0x0800;
/** Needed to extract, and made by: 2.0, which knows folders and deflate. */
const version = 20;
/** 1 January 1980, the earliest date there is. */
const noDate = 0x21;

/** Together, unpacked: against a file that grows without end. */
const mostUnpackedBytes = 1_000_000_000;

type Entry = { name: string; method: number; crc: number; size: number; packed: Buffer };

/**
 * The same archive with what `change` makes of each file's content; what it returns unchanged, as the same object, stays
 * as it is packed. Dates are not kept. Throws for an archive that is damaged, encrypted, of 4 GB or beyond 1 GB unpacked.
 */
export async function changeZip(
  bytes: Buffer,
  change: (name: string, content: Buffer) => Buffer,
): Promise<Buffer> {
  const entries = readEntries(bytes);
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > mostUnpackedBytes) throw new Error(`The archive unpacks to ${total} bytes`);
  const changed: Entry[] = [];
  for (const entry of entries) {
    const content = await contentOf(entry);
    const after = change(entry.name, content);
    changed.push(after === content ? entry : await pack(entry.name, after));
  }
  return writeEntries(changed);
}

function readEntries(bytes: Buffer): Entry[] {
  const end = bytes.lastIndexOf(signatureBytes(signatures.end));
  if (end < 0) throw new Error("The archive has no end");
  const count = bytes.readUInt16LE(end + 10);
  const entries: Entry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  while (entries.length < count) {
    if (bytes.readUInt32LE(at) !== signatures.central) throw new Error("The archive's directory is damaged");
    entries.push(readEntry(bytes, at));
    at += centralBytes + [28, 30, 32].reduce((sum, field) => sum + bytes.readUInt16LE(at + field), 0);
  }
  return entries;
}

function readEntry(bytes: Buffer, at: number): Entry {
  const nameLength = bytes.readUInt16LE(at + 28);
  const local = bytes.readUInt32LE(at + 42);
  const from = local + localBytes + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  return {
    name: bytes.toString("utf8", at + centralBytes, at + centralBytes + nameLength),
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    size: bytes.readUInt32LE(at + 24),
    packed: bytes.subarray(from, from + bytes.readUInt32LE(at + 20)),
  };
}

async function contentOf({ name, method, size, packed }: Entry): Promise<Buffer> {
  if (method === methods.stored) return packed;
  if (method === methods.deflated) return inflate(packed, { maxOutputLength: Math.max(size, 1) });
  throw new Error(`The archive packs ${name} in a way that is not known here`);
}

async function pack(name: string, content: Buffer): Promise<Entry> {
  const packed = await deflate(content);
  return { name, method: methods.deflated, crc: crc32(content), size: content.length, packed };
}

function writeEntries(entries: readonly Entry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const local = Buffer.concat([head(signatures.local, localBytes, 4, entry), name, entry.packed]);
    const central = head(signatures.central, centralBytes, 6, entry);
    central.writeUInt16LE(version, 4);
    central.writeUInt32LE(position, 42);
    files.push(local);
    directory.push(central, name);
    position += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(endBytes);
  end.writeUInt32LE(signatures.end, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(position, 16);
  return Buffer.concat([...files, listed, end]);
}

/** What a file's own header and its line in the directory say alike, from `at` on. */
function head(signature: number, bytes: number, at: number, entry: Entry): Buffer {
  const header = Buffer.alloc(bytes);
  header.writeUInt32LE(signature, 0);
  header.writeUInt16LE(version, at);
  header.writeUInt16LE(utf8Names, at + 2);
  header.writeUInt16LE(entry.method, at + 4);
  header.writeUInt16LE(noDate, at + 8);
  header.writeUInt32LE(entry.crc, at + 10);
  header.writeUInt32LE(entry.packed.length, at + 14);
  header.writeUInt32LE(entry.size, at + 18);
  header.writeUInt16LE(Buffer.byteLength(entry.name), at + 22);
  return header;
}

function signatureBytes(signature: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(signature);
  return bytes;
}
