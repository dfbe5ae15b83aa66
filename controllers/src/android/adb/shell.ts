import { DeviceError } from "../../errors.ts";
import type { AdbSocket } from "./socket.ts";

/** What the packets of the shell protocol are called (system/core/adb/shell_service.h). */
const packet = { stdin: 0, stdout: 1, stderr: 2, exit: 3, closeStdin: 4 } as const;
const headerSize = 5;
const stdinPiece = 32_768;
const mostPiece = 1_000_000;
/** Only so many bytes of a program's standard error are kept. */
const mostStderr = 65_536;

export type ShellOutput = { code: number; stdout: Buffer; stderr: string };

export type ShellInput = {
  stdin?: string | Uint8Array;
  /** Throws DEVICE_ERROR when it writes more. */
  mostBytes: number;
};

/**
 * Runs a command line by shell protocol 2 on a connection that has its device: bytes in and out as they are, output and
 * errors apart, and an exit code. Undefined when the connection ended before the command.
 */
export async function runShell(
  socket: AdbSocket,
  line: string,
  { stdin, mostBytes }: ShellInput,
): Promise<ShellOutput | undefined> {
  await socket.request(`shell,v2,raw:${line}`);
  const sent = sendStdin(socket, stdin).catch(() => undefined);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let [left, errorsLeft] = [mostBytes, mostStderr];
  for await (const { id, bytes } of packetsOf(socket)) {
    if (id === packet.exit) {
      await sent;
      return {
        code: bytes[0] ?? 0,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8"),
      };
    }
    if (id === packet.stdout) {
      left -= bytes.length;
      if (left < 0) throw tooMuch(line, mostBytes);
      stdout.push(bytes);
    } else if (id === packet.stderr && errorsLeft > 0) {
      stderr.push(bytes.subarray(0, errorsLeft));
      errorsLeft -= bytes.length;
    }
  }
  return undefined;
}

/** Streams the output of a long-running command until the command or the connection ends. */
export async function* streamShell(socket: AdbSocket, line: string): AsyncGenerator<Buffer> {
  await socket.request(`shell,v2,raw:${line}`);
  for await (const { id, bytes } of packetsOf(socket)) {
    if (id === packet.exit) return;
    if (id === packet.stdout) yield bytes;
  }
}

/** A large packet comes in pieces, whatever length its header says. */
async function* packetsOf(socket: AdbSocket): AsyncGenerator<{ id: number; bytes: Buffer }> {
  for (;;) {
    const header = await socket.read(headerSize);
    if (!header) return;
    let left = header.readUInt32LE(1);
    do {
      const bytes = await socket.read(Math.min(left, mostPiece));
      if (!bytes) return;
      left -= bytes.length;
      yield { id: header[0] ?? 0, bytes };
    } while (left > 0);
  }
}

async function sendStdin(socket: AdbSocket, stdin: ShellInput["stdin"] = ""): Promise<void> {
  const bytes = Buffer.from(stdin);
  for (let at = 0; at < bytes.length; at += stdinPiece)
    await socket.write(toPacket(packet.stdin, bytes.subarray(at, at + stdinPiece)));
  await socket.write(toPacket(packet.closeStdin, Buffer.alloc(0)));
}

function toPacket(id: number, bytes: Buffer): Buffer {
  const header = Buffer.alloc(headerSize);
  header[0] = id;
  header.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

const tooMuch = (line: string, mostBytes: number) =>
  new DeviceError(
    "DEVICE_ERROR",
    `${line.split(" ", 2).join(" ")} wrote more than ${mostBytes} bytes and was stopped. Ask it for less.`,
  );
