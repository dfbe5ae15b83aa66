export type XmlElement = { name: string; attributes: ReadonlyMap<string, string> };

/** Types of chunks and of values (AOSP, androidfw/ResourceTypes.h). */
const chunks = { strings: 0x0001, startElement: 0x0102 };
const fileHeaderBytes = 8;
const isUtf8 = 0x100;
const typeString = 0x03;
const noString = 0xffffffff;

/** The elements of Android's binary XML in their order, with attributes by their names without a namespace. */
export function readXml(bytes: Buffer): XmlElement[] {
  let strings: string[] = [];
  const elements: XmlElement[] = [];
  for (let at = fileHeaderBytes; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at + 4);
    if (size < 8) throw new RangeError("a chunk of binary XML without a length");
    const chunk = bytes.subarray(at, at + size);
    const type = chunk.readUInt16LE(0);
    if (type === chunks.strings) strings = readStrings(chunk);
    if (type === chunks.startElement) elements.push(readElement(chunk, strings));
    at += size;
  }
  return elements;
}

function readStrings(chunk: Buffer): string[] {
  const count = chunk.readUInt32LE(8);
  const utf8 = (chunk.readUInt32LE(16) & isUtf8) !== 0;
  const data = chunk.readUInt32LE(20);
  const first = chunk.readUInt16LE(2);
  return Array.from({ length: count }, (_, index) => {
    const at = data + chunk.readUInt32LE(first + 4 * index);
    return utf8 ? readUtf8(chunk, at) : readUtf16(chunk, at);
  });
}

/** Its length in characters, then in bytes, each in one byte or, from 128 on, in two. */
function readUtf8(chunk: Buffer, at: number): string {
  const bytes = at + (chunk.readUInt8(at) >= 0x80 ? 2 : 1);
  const first = chunk.readUInt8(bytes);
  const isLong = first >= 0x80;
  const length = isLong ? ((first & 0x7f) << 8) | chunk.readUInt8(bytes + 1) : first;
  const from = bytes + (isLong ? 2 : 1);
  return chunk.toString("utf8", from, from + length);
}

function readUtf16(chunk: Buffer, at: number): string {
  const first = chunk.readUInt16LE(at);
  const isLong = first >= 0x8000;
  const length = isLong ? ((first & 0x7fff) << 16) | chunk.readUInt16LE(at + 2) : first;
  const from = at + (isLong ? 4 : 2);
  return chunk.toString("utf16le", from, from + 2 * length);
}

function readElement(chunk: Buffer, strings: readonly string[]): XmlElement {
  const body = chunk.readUInt16LE(2);
  const first = body + chunk.readUInt16LE(body + 8);
  const size = chunk.readUInt16LE(body + 10);
  const count = chunk.readUInt16LE(body + 12);
  const attributes = Array.from({ length: count }, (_, index): [string, string] => {
    const at = first + index * size;
    const name = strings[chunk.readUInt32LE(at + 4)] ?? "";
    return [name, readValue(chunk, at, strings)];
  });
  return { name: strings[chunk.readUInt32LE(body + 4)] ?? "", attributes: new Map(attributes) };
}

function readValue(chunk: Buffer, at: number, strings: readonly string[]): string {
  const raw = chunk.readUInt32LE(at + 8);
  if (raw !== noString) return strings[raw] ?? "";
  const data = chunk.readUInt32LE(at + 16);
  return chunk.readUInt8(at + 15) === typeString ? (strings[data] ?? "") : String(data);
}
