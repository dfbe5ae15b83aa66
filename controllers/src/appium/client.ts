import { z } from "zod";
import type { InstalledAddons } from "../contract.ts";

export const clientAddon = "appium-client";

type OpenOptions = {
  url: string;
  headers: Readonly<Record<string, string>>;
  capabilities: Readonly<Record<string, unknown>>;
  /** No call waits longer. */
  longestMs: number;
  signal: AbortSignal;
};

/** A session of the add-on, which takes commands by their names in WebdriverIO. An answer of more than `mostBytes` is not read. */
export type WireSession = {
  id: string;
  capabilities: Readonly<Record<string, unknown>>;
  call(command: string, args: readonly unknown[], signal: AbortSignal, mostBytes?: number): Promise<unknown>;
};

const isFunction = (value: unknown): boolean => typeof value === "function";
const door = z.object({
  openSession: z.custom<(options: OpenOptions) => Promise<unknown>>(isFunction),
});
const session = z.object({
  id: z.string().min(1),
  capabilities: z.record(z.string(), z.unknown()),
  call: z.custom<WireSession["call"]>(isFunction),
});

/** Opens a session by the add-on. Throws ADDON_MISSING, ADDON_UNUSABLE, and what {@link wireFailure} reads. */
export async function openWireSession(addons: InstalledAddons, options: OpenOptions): Promise<WireSession> {
  const { openSession } = door.parse(await addons.load(clientAddon));
  return session.parse(await openSession(options));
}

/** A refusal of a server: W3C's error and message, with the HTTP status. */
export type WireAnswer = { status: number; error?: string | undefined; message?: string | undefined };

const failure = z.object({
  message: z.string(),
  problem: z.string().optional(),
  answer: z
    .object({ status: z.number(), error: z.string().optional(), message: z.string().optional() })
    .optional(),
});

export type WireFailure = {
  message: string;
  /** Why the answer of the server is not used. */
  problem?: string | undefined;
  answer?: WireAnswer | undefined;
};

export function wireFailure(error: unknown): WireFailure {
  const parsed = failure.safeParse(error);
  return parsed.success ? parsed.data : { message: String(error) };
}
