import type { Completion } from "../mcp/backend.ts";

export type Content = { mimeType: string } & ({ text: string } | { bytes: Uint8Array });

/**
 * Serves the addresses of one scheme. `path` is what follows `scheme://`, split at slashes and decoded. What is not there
 * is a ToolError with the nearest names.
 */
export type ResourceRoom = {
  scheme: string;
  read(path: readonly string[]): Promise<Content>;
  /** Every value that a variable of the scheme's templates may have; the caller keeps those that begin as typed. */
  complete?(asked: Completion): Promise<readonly string[]>;
  /** See `Backend.watch`. */
  watch?(path: readonly string[], changed: () => void): Promise<() => void>;
};
