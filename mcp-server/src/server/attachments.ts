import type { Clock } from "../services/index.ts";

/** Below the five minutes after which fetch gives up on a silent answer. */
const beatMs = 15_000;

/**
 * The open answers of `/attach`: a bridge holds one for its life, so that the kernel tells either side at once when the
 * other is gone. Lines: `attached`, an empty one now and then, and `leaving <reason>` before a wanted end.
 */
export type Attachments = {
  open(client: string): Response;
  count(): number;
  /** Tells every bridge why it is left, and ends its answer. */
  leave(reason: string): void;
};

export function createAttachments(deps: {
  clock: Clock;
  onOpen(): void;
  onEnd(client: string): void;
}): Attachments {
  const living = new Map<symbol, (reason: string) => void>();
  const encoder = new TextEncoder();

  function open(client: string): Response {
    const id = Symbol(client);
    let stopBeat = () => {};
    const ended = () => {
      stopBeat();
      if (living.delete(id)) deps.onEnd(client);
    };
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (line: string) => controller.enqueue(encoder.encode(`${line}\n`));
        const beat = () => {
          stopBeat = deps.clock.setTimeout(() => {
            send("");
            beat();
          }, beatMs);
        };
        living.set(id, (reason) => {
          stopBeat();
          living.delete(id);
          send(`leaving ${reason}`);
          controller.close();
        });
        send("attached");
        beat();
      },
      cancel: ended,
    });
    deps.onOpen();
    return new Response(body, { headers: { "content-type": "text/plain; charset=utf-8" } });
  }

  return {
    open,
    count: () => living.size,
    leave: (reason) => {
      for (const end of [...living.values()]) end(reason);
    },
  };
}
