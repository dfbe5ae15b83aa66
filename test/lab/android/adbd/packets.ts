import { ByteQueue } from "./byteQueue.ts";

/** A message of adb's protocol (AOSP, adb/protocol.txt): four letters, two numbers and data. */
export type Packet = { command: string; arg0: number; arg1: number; data: Buffer };

/** From this version on, checksums of data are not checked. */
export const protocolVersion = 0x01000001;
export const mostData = 1024 * 1024;
const headerBytes = 24;

const nothing = Buffer.alloc(0);

export function encodePacket({
  command,
  arg0,
  arg1,
  data = nothing,
}: Omit<Packet, "data"> & { data?: Buffer }) {
  const header = Buffer.alloc(headerBytes);
  header.write(command, 0, "latin1");
  const word = header.readUInt32LE(0);
  header.writeUInt32LE(arg0, 4);
  header.writeUInt32LE(arg1, 8);
  header.writeUInt32LE(data.length, 12);
  // The version is known only after these two, so they alone carry a sum.
  const isChecked = command === "CNXN" || command === "AUTH";
  header.writeUInt32LE(isChecked ? data.reduce((sum, byte) => sum + byte, 0) : 0, 16);
  header.writeUInt32LE(~word >>> 0, 20);
  return Buffer.concat([header, data]);
}

export class PacketReader {
  private readonly queue = new ByteQueue();
  private header: Buffer | undefined;

  push(bytes: Buffer): void {
    this.queue.push(bytes);
  }

  /** The next whole packet. Throws where the bytes are not adb's. */
  next(): Packet | undefined {
    this.header ??= this.queue.take(headerBytes);
    if (!this.header) return undefined;
    const { header } = this;
    if (header.readUInt32LE(20) !== ~header.readUInt32LE(0) >>> 0) throw new Error("no packet of adb");
    const length = header.readUInt32LE(12);
    if (length > mostData) throw new Error(`a packet of ${length} bytes`);
    const data = this.queue.take(length);
    if (!data) return undefined;
    this.header = undefined;
    const command = header.toString("latin1", 0, 4);
    return { command, arg0: header.readUInt32LE(4), arg1: header.readUInt32LE(8), data };
  }
}
