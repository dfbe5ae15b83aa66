import type { Clock } from "../ports.ts";

/** A stream may say nothing this long before it counts as dead; the server shows every 15 s that it lives. */
export const silenceMs = 45_000;
/** More than any event has. */
const maxBuffer = 1_048_576;

type StreamOptions = { clock: Clock; signal: AbortSignal; onAlive(): void };

/**
 * The `data` of each event of a text/event-stream, as it comes. Ends with the stream or the signal; throws when it says
 * nothing for {@link silenceMs}, or sends an event that has no end.
 */
export async function* eventData(
  body: ReadableStream<Uint8Array>,
  { clock, signal, onAlive }: StreamOptions,
): AsyncGenerator<string> {
  const reader = body.getReader();
  // A read under way then ends as if the stream had.
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), clock);
      if (done) return;
      onAlive();
      const blocks = `${rest}${decoder.decode(value, { stream: true })}`.split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > maxBuffer) throw new Error("the feed sent an event without an end");
      yield* blocks.flatMap(dataOf);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** None of a comment. */
function dataOf(block: string): string[] {
  const lines = block
    .split("\n")
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
  return lines.length > 0 ? [lines.join("\n")] : [];
}

/** What comes from the feed, or an error when that takes longer than {@link silenceMs}. */
export async function unlessSilent<T extends object>(coming: Promise<T>, clock: Clock): Promise<T> {
  const came = new AbortController();
  const late = clock.sleep(silenceMs, came.signal).catch(() => {});
  try {
    const got = await Promise.race([coming, late]);
    if (got) return got;
    throw new Error(`the feed said nothing for ${silenceMs} ms`);
  } finally {
    came.abort();
  }
}
