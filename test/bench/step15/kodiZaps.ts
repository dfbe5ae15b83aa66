import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAddons } from "@labwright/controllers";
import { controllerContext } from "../../fixtures/controllerContext.ts";
import { deviceOf, playChannel } from "../../fixtures/kodiDevice.ts";
import { type ClockReading, recordClock } from "../../lab/tv/displayClock.ts";
import { type KodiLab, startKodi } from "../../lab/tv/kodi/index.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median } from "../statistics.ts";

/** The constant offset is known from the first zaps, the rest are judged. */
const counts = { offset: 10, judged: 40 };
/** Of the channels' own pictures, and of our capture. */
const frameMs = 40;
const restMs = 300;
/** Kodi writes the channel's name below it. */
const area_without_banner = { x: 0, y: 0, width: 1, height: 0.42 };

/** Moments of `performance.now()`: when the key left, and when we say that the new picture came. */
type Told = { key: number; shown: number; how: unknown; banner: unknown };

async function zap(device: Awaited<ReturnType<typeof deviceOf>>): Promise<Told> {
  await new Promise((resolve) => setTimeout(resolve, restMs));
  const { sentAt = 0, data = {} } = await device.run("measure_zap", {
    key: "CHANNEL_UP",
    area_without_banner,
  });
  const { how, zap_ms, banner, banner_unread } = data;
  return { key: sentAt, shown: sentAt + Number(zap_ms), how, banner: banner ?? `(${banner_unread})` };
}

/** When the display showed another channel than at the key; the clock of channel n counts from n * 10,000. */
function shownBy(readings: readonly ClockReading[], key: number): number | undefined {
  const channelOf = ({ clock = 0 }: ClockReading) => Math.floor(clock / 10_000);
  const before = readings.findLast(({ at, clock }) => at <= key && clock !== undefined);
  if (!before) return undefined;
  return readings.find(
    (one) => one.at > key && one.clock !== undefined && channelOf(one) !== channelOf(before),
  )?.at;
}

async function zapsOf(lab: KodiLab, folder: string) {
  const addons = createAddons({
    shipped: join(process.cwd(), "controllers/addons"),
    installed: join(process.cwd(), ".setup/addons"),
  });
  const device = await deviceOf(lab, { ...controllerContext("lab/kodi"), addons });
  const recording = recordClock(lab.display, join(folder, "display.gray"));
  try {
    await playChannel(lab);
    const zaps: Told[] = [];
    while (zaps.length < counts.offset + counts.judged) zaps.push(await zap(device));
    return { zaps, readings: await recording.readings() };
  } finally {
    await recording.end();
    await device.close();
  }
}

/** The time of a zap on Kodi, against the clock of its channels on the display, which a recording of its own reads. */
export async function measureKodiZaps({ note }: Pick<Bench, "note">): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), "labwright-zaps-"));
  const lab = await startKodi();
  try {
    const { zaps, readings } = await zapsOf(lab, folder);
    const offsets = zaps.map(({ key, shown }) => shown - (shownBy(readings, key) ?? Number.NaN));
    const offset = median(offsets.slice(0, counts.offset));
    const errors = offsets.slice(counts.offset).map((one) => Math.abs(one - offset) / frameMs);
    const worst = errors.toSorted((a, b) => a - b);
    const p95 = worst[Math.ceil(0.95 * worst.length) - 1] ?? Number.NaN;
    const started = lab.oracle.events.filter(({ method }) => method === "Player.OnAVStart");
    const late = zaps.slice(counts.offset).map(({ key, shown }) => {
      const { at = Number.NaN } = started.find((event) => event.at > key) ?? {};
      return shown - at;
    });
    const ways = [...new Set(zaps.map(({ how }) => how))].map(
      (how) => `${how} ${zaps.filter((one) => one.how === how).length}`,
    );
    const banners = zaps.filter(({ banner }) => /Alpha|Beta|Gamma/.test(String(banner)));
    note(
      `kodi: constant offset ${offset.toFixed(0)} ms; errors in frames: median ${median(errors).toFixed(2)}, p95 ${p95.toFixed(2)}, worst ${worst.at(-1)?.toFixed(2)}`,
    );
    note(
      `kodi: zap ${median(zaps.map(({ key, shown }) => shown - key)).toFixed(0)} ms (median), Player.OnAVStart ${median(late).toFixed(0)} ms before the picture; ${ways.join(", ")}; the channel's name in ${banners.length} of ${zaps.length} banners, such as "${zaps.at(-1)?.banner}"`,
    );
    return [{ id: "kodi.zaps", ours: p95, runs: errors.length }];
  } finally {
    await lab.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
