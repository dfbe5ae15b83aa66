import type { Duplex } from "node:stream";

/** The streams of a command. What is written to them waits for the reader on the other side. */
export type ShellIo = {
  stdin: AsyncIterable<Uint8Array>;
  out(bytes: Uint8Array | string): Promise<void>;
  err(bytes: Uint8Array | string): Promise<void>;
  hasTerminal: boolean;
  /** Aborts when the output is not read any more. */
  signal: AbortSignal;
};

/** `mode` is st_mode with its type bits; `mtime` in seconds since 1970. */
export type FileStat = { mode: number; size: number; mtime: number };

/** Every path is absolute. The functions that change something throw a `FileError`. */
export type DeviceFiles = {
  stat(path: string): FileStat | undefined;
  /** Names in a folder, sorted; undefined where there is no such folder. */
  list(path: string): readonly string[] | undefined;
  read(path: string): Uint8Array;
  write(path: string, file: { mode: number; mtime: number; data: Uint8Array }): void;
};

/** Its message is the system's text of it, such as "Permission denied"; `errno` is Linux's number. */
export class FileError extends Error {
  constructor(
    message: string,
    readonly errno: number,
  ) {
    super(message);
  }
}

export type DeviceSide = {
  /** What it says of itself when it is connected, such as ro.product.model. */
  banner(): Readonly<Record<string, string>>;
  files: DeviceFiles;
  run(command: string, io: ShellIo): Promise<number>;
  /** Connects to something that listens on the device, such as `tcp:6790`; undefined where nothing does. */
  connect(endpoint: string): Promise<Duplex | undefined>;
  reboot(): void;
};
