import { type DaemonFile, daemonHeaders, daemonUrl } from "../daemonFile.ts";

/** How the daemon ended: with a reason when it said so, without one when it died. */
export type Loss = { reason: string | undefined };

/** A living daemon, and the promise that tells when it is no more. */
export type Attached = { file: DaemonFile; lost: AbortSignal; loss(): Loss; close(): void };

/**
 * Opens the answer that lasts as long as both live. Undefined if no daemon answers there within `timeoutMs`, which a
 * daemon.json left by a dead one, or a stranger on its port, gives.
 */
export async function attach(
  file: DaemonFile,
  client: string,
  timeoutMs: number,
): Promise<Attached | undefined> {
  const ended = new AbortController();
  const request = new AbortController();
  const timer = setTimeout(() => request.abort(), timeoutMs);
  try {
    const response = await fetch(daemonUrl(file, "/attach"), {
      headers: daemonHeaders(file, client),
      signal: request.signal,
    });
    const reader = response.ok ? response.body?.getReader() : undefined;
    if (!reader || (await reader.read()).done) return undefined;
    let loss: Loss = { reason: undefined };
    readUntilEnd(reader, (reason) => {
      loss = { reason };
      ended.abort();
    });
    return { file, lost: ended.signal, loss: () => loss, close: () => request.abort() };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Never rejects: a connection reset by a killed daemon is an end like any other. */
function readUntilEnd(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onEnd: (reason?: string) => void,
): void {
  const decoder = new TextDecoder();
  let reason: string | undefined;
  const next = (): Promise<void> =>
    reader.read().then(({ done, value }) => {
      reason = /leaving (.+)/.exec(decoder.decode(value))?.[1] ?? reason;
      return done ? undefined : next();
    });
  next().then(
    () => onEnd(reason),
    () => onEnd(reason),
  );
}
