import type { Clock } from "../../ports.ts";

/** A picture as its source gives it: JPEG, or PNG where a device makes nothing else. */
export type LivePicture = { bytes: Uint8Array; mimeType: string };

/** The pictures of one device for people who watch it. */
export type LivePictures = {
  /** The newest, without waiting long. Throws what a screenshot throws. */
  latest(signal: AbortSignal): Promise<LivePicture>;
  /** Each new picture until `end`, or until the device gives none any more. */
  subscribe(reader: (picture: LivePicture) => void): { ended: Promise<void>; end(): void };
};

/** Between two pictures while the screen changes, and while it stands still: at most 5 a second. */
const changingMs = 200;
const stillMs = 400;
/** So many equal pictures mean that the screen stands still. */
const stillAfter = 5;
const retryMs = 1_000;
const mostFailures = 5;

type Capture = (signal: AbortSignal) => Promise<LivePicture>;

/**
 * Screenshots one after another while someone watches, for devices that send no video. All viewers of a device share them: the
 * capture is that of the viewer who came first and still watches.
 */
export function createWatching(clock: Pick<Clock, "sleep">) {
  const watched = new Map<string, Watched>();
  return (deviceId: string, capture: Capture): LivePictures => ({
    latest: (signal) => capture(signal),
    subscribe(reader) {
      const found = watched.get(deviceId) ?? new Watched(clock, () => watched.delete(deviceId));
      watched.set(deviceId, found);
      return found.add(reader, capture);
    },
  });
}

type Viewer = { reader(picture: LivePicture): void; capture: Capture; leave(): void };

class Watched {
  readonly #viewers = new Set<Viewer>();
  readonly #stop = new AbortController();
  #last: Uint8Array = new Uint8Array();
  #equal = 0;

  constructor(
    private readonly clock: Pick<Clock, "sleep">,
    private readonly onEnd: () => void,
  ) {}

  add(reader: Viewer["reader"], capture: Capture): { ended: Promise<void>; end(): void } {
    const viewer: Viewer = { reader, capture, leave: () => {} };
    const ended = new Promise<void>((resolve) => {
      viewer.leave = () => {
        if (this.#viewers.delete(viewer) && this.#viewers.size === 0) this.#end();
        resolve();
      };
    });
    this.#viewers.add(viewer);
    if (this.#viewers.size === 1) this.#run().catch(() => this.#end());
    return { ended, end: viewer.leave };
  }

  #end(): void {
    // Its pause ends with it, and must not end those who watch the device by then.
    if (this.#stop.signal.aborted) return;
    this.onEnd();
    this.#stop.abort();
    for (const viewer of [...this.#viewers]) viewer.leave();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      const pauseMs = await this.#show(signal).then(
        (ms) => {
          failures = 0;
          return ms;
        },
        (error: unknown) => {
          failures += 1;
          if (failures >= mostFailures) throw error;
          return retryMs;
        },
      );
      await this.clock.sleep(pauseMs, signal);
    }
  }

  /** Shows the next picture where it is another one. Returns how long to wait for the one after it, in ms. */
  async #show(signal: AbortSignal): Promise<number> {
    const [first] = this.#viewers;
    const picture = await first?.capture(signal);
    if (!picture) return retryMs;
    const isNew = Buffer.compare(picture.bytes, this.#last) !== 0;
    this.#last = picture.bytes;
    this.#equal = isNew ? 0 : this.#equal + 1;
    if (isNew) for (const viewer of this.#viewers) viewer.reader(picture);
    return this.#equal >= stillAfter ? stillMs : changingMs;
  }
}
