import type { FrameSource, FrameSubscription } from "@labwright/controllers";
import type { Context } from "hono";
import type { Caller } from "../server/call/callTool.ts";
import type { LiveFrames } from "../services/index.ts";
import { newTraceId } from "./errors.ts";

const perSecond = 5;
const boundary = "labwright-frame";
/** Full size: a frame is never enlarged. */
const format = { width: 7_680, height: 7_680, perSecond, pixels: "jpeg" } as const;

type LiveDeps = { live: LiveFrames; principalOf(request: Request): Caller };

/** What a device shows, as JPEG pictures one after another, until the viewer leaves or the device is closed. */
export async function liveResponse(c: Context, { live, principalOf }: LiveDeps): Promise<Response> {
  const { signal } = c.req.raw;
  const { principal, client } = principalOf(c.req.raw);
  const { frames, done } = await live.watch(c.req.param("id") ?? "", {
    ...{ principal, client, signal, trace_id: newTraceId() },
    ...{ deadline: Number.MAX_SAFE_INTEGER, progress: () => {}, capabilities: { elicitation: false } },
  });
  try {
    const { bytes } = await frames.latest(signal);
    return new Response(pictures(frames, bytes, { signal, done }), {
      headers: {
        "content-type": `multipart/x-mixed-replace; boundary=${boundary}`,
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    });
  } catch (error) {
    done();
    throw error;
  }
}

/** A viewer takes the newest picture when it is ready for one. */
function pictures(frames: FrameSource, first: Uint8Array, end: { signal: AbortSignal; done(): void }) {
  let newest: Uint8Array | undefined = first;
  let wake = () => {};
  let subscription: FrameSubscription | undefined;
  let isOver = false;
  const leave = () => {
    if (isOver) return;
    isOver = true;
    subscription?.end();
    end.done();
    wake();
  };
  return new ReadableStream<Uint8Array>(
    {
      start() {
        subscription = frames.subscribe(format, ({ bytes }) => {
          newest = bytes;
          wake();
        });
        subscription.ended.then(leave, leave);
        end.signal.addEventListener("abort", leave, { once: true });
      },
      async pull(controller) {
        while (newest === undefined && !isOver)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        if (isOver) return controller.close();
        if (newest) controller.enqueue(partOf(newest));
        newest = undefined;
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

const partOf = (jpeg: Uint8Array): Uint8Array =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`),
    jpeg,
    Buffer.from("\r\n"),
  ]);
