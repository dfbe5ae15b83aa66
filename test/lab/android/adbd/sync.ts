import { type DeviceFiles, FileError, type FileStat } from "../labShell.ts";
import { ByteReader } from "./byteQueue.ts";
import { type AdbStream, bytesOf, writeTo } from "./stream.ts";

/** The most data that one DATA packet may hold (AOSP, adb/SYNC.TXT). */
const mostChunk = 64 * 1024;
const mostPath = 1024;
const noSuchFile = 2;
const none: FileStat = { mode: 0, size: 0, mtime: 0 };

type Sync = { stream: AdbStream; reader: ByteReader; files: DeviceFiles };
type Request = (sync: Sync, path: string, id: string) => Promise<void>;

const requests: Readonly<Record<string, Request>> = {
  STAT: async ({ stream, files }, path) => {
    const { mode, size, mtime } = files.stat(path) ?? none;
    await writeTo(stream, message("STAT", mode, size, mtime));
  },
  STA2: async ({ stream, files }, path, id) => writeTo(stream, statV2(id, files.stat(path))),
  LST2: async ({ stream, files }, path, id) => writeTo(stream, statV2(id, files.stat(path))),
  LIST: (sync, path) => list(sync, path, entryV1, message("DONE", 0, 0, 0, 0)),
  LIS2: (sync, path) => list(sync, path, entryV2, Buffer.concat([statV2("DONE", none), message("", 0)])),
  RECV: receive,
  SEND: send,
};

export async function serveSync(stream: AdbStream, files: DeviceFiles): Promise<void> {
  const sync = { stream, reader: new ByteReader(bytesOf(stream)), files };
  for (;;) {
    const header = await sync.reader.read(8);
    const id = header?.toString("latin1", 0, 4) ?? "QUIT";
    if (!header || id === "QUIT") return;
    const length = header.readUInt32LE(4);
    const path = length > mostPath ? undefined : await sync.reader.read(length);
    const request = requests[id];
    if (!path || !request) return fail(sync, `unknown command ${id}`);
    await request(sync, path.toString("utf8"), id);
  }
}

function message(id: string, ...words: number[]): Buffer {
  const bytes = Buffer.alloc(id.length + 4 * words.length);
  bytes.write(id, 0, "latin1");
  words.forEach((word, index) => {
    bytes.writeUInt32LE(word >>> 0, id.length + 4 * index);
  });
  return bytes;
}

const fail = ({ stream }: Sync, reason: string) =>
  writeTo(stream, Buffer.concat([message("FAIL", Buffer.byteLength(reason)), Buffer.from(reason)]));

/** id, error, dev and ino, mode, links, uid, gid, size, and three times. */
function statV2(id: string, stat: FileStat | undefined): Buffer {
  const bytes = Buffer.alloc(72);
  bytes.write(id, 0, "latin1");
  bytes.writeUInt32LE(stat ? 0 : noSuchFile, 4);
  if (!stat || stat === none) return bytes;
  bytes.writeUInt32LE(stat.mode, 24);
  bytes.writeUInt32LE(1, 28);
  bytes.writeBigUInt64LE(BigInt(stat.size), 40);
  for (const at of [48, 56, 64]) bytes.writeBigInt64LE(BigInt(stat.mtime), at);
  return bytes;
}

type Entry = (name: string, stat: FileStat) => Buffer;

const entryV1: Entry = (name, { mode, size, mtime }) =>
  Buffer.concat([message("DENT", mode, size, mtime, Buffer.byteLength(name)), Buffer.from(name)]);

const entryV2: Entry = (name, stat) =>
  Buffer.concat([statV2("DNT2", stat), message("", Buffer.byteLength(name)), Buffer.from(name)]);

async function list({ stream, files }: Sync, path: string, entry: Entry, done: Buffer): Promise<void> {
  const names = files.list(path) ?? [];
  const folder = path.endsWith("/") ? path : `${path}/`;
  const entries = names.map((name) => entry(name, files.stat(folder + name) ?? none));
  await writeTo(stream, Buffer.concat([...entries, done]));
}

async function receive(sync: Sync, path: string): Promise<void> {
  let data: Uint8Array;
  try {
    data = sync.files.read(path);
  } catch (error) {
    return fail(sync, reasonOf(error));
  }
  for (let from = 0; from < data.length; from += mostChunk) {
    const chunk = data.subarray(from, from + mostChunk);
    await writeTo(sync.stream, Buffer.concat([message("DATA", chunk.length), chunk]));
  }
  await writeTo(sync.stream, message("DONE", 0));
}

/** The file's mode follows the last comma of the path. All data is read also when the file cannot be written. */
async function send(sync: Sync, pathAndMode: string): Promise<void> {
  const comma = pathAndMode.lastIndexOf(",");
  const path = pathAndMode.slice(0, comma);
  const mode = Number.parseInt(pathAndMode.slice(comma + 1), 10);
  const chunks: Buffer[] = [];
  for (;;) {
    const header = await sync.reader.read(8);
    if (!header) return;
    const word = header.readUInt32LE(4);
    if (header.toString("latin1", 0, 4) === "DONE") {
      return store(sync, path, { mode, mtime: word, data: Buffer.concat(chunks) });
    }
    const chunk = word > mostChunk ? undefined : await sync.reader.read(word);
    if (!chunk) return fail(sync, "oversize data message");
    chunks.push(chunk);
  }
}

async function store(sync: Sync, path: string, file: Parameters<DeviceFiles["write"]>[1]): Promise<void> {
  try {
    sync.files.write(path, file);
  } catch (error) {
    return fail(sync, reasonOf(error));
  }
  await writeTo(sync.stream, message("OKAY", 0));
}

function reasonOf(error: unknown): string {
  if (error instanceof FileError) return error.message;
  throw error;
}
