import type { Controller, ControllerFactory, FrameSubscription } from "@labwright/controllers";
import type { Clock } from "../../ports.ts";
import type { LivePicture } from "./watching.ts";

/** `at` is when the device first showed it, in ms since the epoch; it grows from picture to picture of a device. */
export type RecentPicture = LivePicture & { readonly at: number };
type Kept = RecentPicture & { deviceId: string; seenAt: number };
export type Recent = ReturnType<typeof createRecent>;

/** From when a picture was last seen, also after its device was closed. */
const keptMs = 300_000;
const forgetMs = 60_000;
/** Of three pictures within this time the middle one goes, so that a screen that moves does not push out the minutes before. */
const burstMs = 1_000;
const mostPictures = 300;
const mostBytes = { device: 24 * 2 ** 20, all: 96 * 2 ** 20 };

/** Full size: a JPEG stays as its source sent it. */
const videoFormat = { width: 7_680, height: 7_680, perSecond: 0.5, pixels: "jpeg" } as const;

/** Keeps the last pictures of devices in memory, bounded in age, number and bytes. */
export function createRecent(clock: Pick<Clock, "now" | "setTimeout">) {
  let kept: readonly Kept[] = [];
  let isTimed = false;

  const ofDevice = (wanted: string) => kept.filter(({ deviceId }) => deviceId === wanted);

  function forget(): void {
    kept = kept.filter(({ seenAt }) => clock.now() - seenAt <= keptMs);
    if (kept.length === 0 || isTimed) return;
    isTimed = true;
    clock.setTimeout(() => {
      isTimed = false;
      forget();
    }, forgetMs);
  }

  function keep(deviceId: string, { bytes, mimeType }: LivePicture): void {
    const own = ofDevice(deviceId);
    const last = own.at(-1);
    const equal = own.findLast((picture) => Buffer.compare(picture.bytes, bytes) === 0);
    const seenAt = clock.now();
    if (last && equal === last) {
      last.seenAt = seenAt;
      return;
    }
    const at = Math.max(seenAt, (last?.at ?? 0) + 1);
    if (at - (own.at(-2)?.at ?? 0) < burstMs) own.pop();
    own.push({ deviceId, bytes: equal?.bytes ?? bytes, mimeType, at, seenAt });
    const others = kept.filter((picture) => picture.deviceId !== deviceId);
    const mine = newest(own.slice(-mostPictures), mostBytes.device);
    const all = [...others, ...mine].toSorted((a, b) => a.at - b.at);
    kept = newest(all, mostBytes.all);
    forget();
  }

  return {
    /** The pictures of a device's last 5 minutes, oldest first. */
    of(deviceId: string): readonly RecentPicture[] {
      forget();
      return ofDevice(deviceId);
    },
    /** The same driver, whose pictures of the whole screen are kept: all that are taken, and of a video one in 2 s while it is open. */
    keeping: (factory: ControllerFactory): ControllerFactory => ({
      ...factory,
      create: (settings, context) =>
        factory
          .create(settings, context)
          .map((controller) => noting(controller, (picture) => keep(context.deviceId, picture))),
    }),
  };
}

/** The last of them that have no more bytes than that. Equal pictures share theirs. */
function newest(pictures: readonly Kept[], most: number): readonly Kept[] {
  const bytes = [...new Set(pictures.map((picture) => picture.bytes))];
  const sum = bytes.reduce((total, { byteLength }) => total + byteLength, 0);
  return sum <= most ? pictures : newest(pictures.slice(1), most);
}

function noting(controller: Controller, keep: (picture: LivePicture) => void): Controller {
  const { screen, frames } = controller;
  let video: FrameSubscription | undefined;
  return {
    ...controller,
    ...(screen && {
      screen: {
        async capture(options, signal) {
          const picture = await screen.capture(options, signal);
          if (!options.fullPage && !options.area && options.ref === undefined) keep(picture);
          return picture;
        },
      },
    }),
    ...(frames && {
      async open(signal) {
        await controller.open(signal);
        video?.end();
        video = frames.subscribe(videoFormat, ({ bytes }) => keep({ bytes, mimeType: "image/jpeg" }));
      },
    }),
  };
}
