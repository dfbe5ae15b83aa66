import type { DeviceSide, ShellIo } from "../labShell.ts";
import { ByteReader } from "./byteQueue.ts";
import { type AdbStream, bytesOf, writeTo } from "./stream.ts";

/** Kinds of packets of the shell protocol (AOSP, adb/shell_protocol.h). */
const kinds = { stdin: 0, stdout: 1, stderr: 2, exit: 3, closeStdin: 4 };
const headerBytes = 5;

/**
 * A command in a terminal, whose output is all that is sent, both streams mixed, without its exit code: `exec:`, and `shell:` of
 * old.
 */
export async function runShell(command: string, stream: AdbStream, device: DeviceSide): Promise<void> {
  const write = (bytes: Uint8Array | string) => writeTo(stream, bytes);
  const io = { stdin: bytesOf(stream), out: write, err: write, hasTerminal: true, signal: stream.gone };
  await device.run(command, io);
}

/** A command without a terminal, with separate streams and then its exit code (AOSP, adb/daemon/shell_service.cpp). */
export async function runShellV2(command: string, stream: AdbStream, device: DeviceSide): Promise<void> {
  const send = (kind: number) => async (bytes: Uint8Array | string) => {
    const data = Buffer.from(bytes);
    if (data.length > 0) await writeTo(stream, packet(kind, data));
  };
  const io: ShellIo = {
    stdin: stdinOf(stream),
    out: send(kinds.stdout),
    err: send(kinds.stderr),
    hasTerminal: false,
    signal: stream.gone,
  };
  const code = await device.run(command, io);
  await writeTo(stream, packet(kinds.exit, Buffer.from([code])));
}

function packet(kind: number, data: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt8(kind, 0);
  header.writeUInt32LE(data.length, 1);
  return Buffer.concat([header, data]);
}

/** What comes for the command; sizes of the host's window are passed over. */
async function* stdinOf(stream: AdbStream): AsyncGenerator<Buffer> {
  const reader = new ByteReader(bytesOf(stream));
  for (;;) {
    const header = await reader.read(headerBytes);
    const data = header && (await reader.read(header.readUInt32LE(1)));
    const kind = header?.readUInt8(0);
    if (!data || kind === kinds.closeStdin) return;
    if (kind === kinds.stdin) yield data;
  }
}
