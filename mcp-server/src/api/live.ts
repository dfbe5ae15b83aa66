import type { Context } from "hono";
import type { Caller } from "../server/call/callTool.ts";
import type { LiveFrames } from "../services/index.ts";
import { newTraceId } from "./errors.ts";

const boundary = "labwright-frame";

type LiveDeps = { live: LiveFrames; principalOf(request: Request): Caller };
type Pictures = Awaited<ReturnType<LiveFrames["watch"]>>["pictures"];
type Picture = Awaited<ReturnType<Pictures["latest"]>>;

/** What a device shows, as pictures one after another, until the viewer leaves or the device is closed. */
export async function liveResponse(c: Context, { live, principalOf }: LiveDeps): Promise<Response> {
  const { signal } = c.req.raw;
  const { principal, client } = principalOf(c.req.raw);
  const { pictures, done } = await live.watch(c.req.param("id") ?? "", {
    ...{ principal, client, signal, trace_id: newTraceId() },
    ...{ deadline: Number.MAX_SAFE_INTEGER, progress: () => {}, capabilities: { elicitation: false } },
  });
  try {
    const first = await pictures.latest(signal);
    return new Response(streamOf(pictures, first, { signal, done }), {
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
function streamOf(pictures: Pictures, first: Picture, end: { signal: AbortSignal; done(): void }) {
  let newest: Picture | undefined = first;
  let wake = () => {};
  let subscription: ReturnType<Pictures["subscribe"]> | undefined;
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
      start(controller) {
        controller.enqueue(headOf(first));
        subscription = pictures.subscribe((picture) => {
          newest = picture;
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

const headOf = ({ mimeType }: Picture): Uint8Array =>
  Buffer.from(`--${boundary}\r\nContent-Type: ${mimeType}\r\n\r\n`);

/** Ends with the head of the next part: Chromium shows a picture only when it has read that. */
const partOf = (picture: Picture): Uint8Array =>
  Buffer.concat([picture.bytes, Buffer.from("\r\n"), headOf(picture)]);
