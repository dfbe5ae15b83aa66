import type { Frame } from "@labwright/controllers";
import type { Clock, OpenDevice } from "../../ports.ts";
import { findPort } from "../portOf.ts";
import { toJpeg } from "./pictures.ts";

/** A picture that takes longer holds up the steps that it is the evidence of. */
const slowMs = 300;
/** So many in a row have to be slow: a machine that is busy for a moment does not make a device slow. */
const judged = 3;

/** Takes the pictures of steps, and knows the devices whose pictures take long. */
export class StepPictures {
  private readonly clock: Pick<Clock, "monotonic">;
  /** By device: what the last ones took, in milliseconds. */
  private readonly took = new Map<string, number[]>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.clock = clock;
  }

  /** A JPEG: the latest frame of a device that sends them, else a new picture. Undefined for a device without a screen. */
  async take(device: OpenDevice, signal: AbortSignal): Promise<Frame | undefined> {
    const frames = await findPort(device, "frames", signal);
    if (frames) return frames.latest(signal);
    const source = await findPort(device, "screen", signal);
    if (!source) return undefined;
    const started = this.clock.monotonic();
    const frame = await source.capture({ format: "jpeg" }, signal);
    const took = [...(this.took.get(device.id) ?? []), this.clock.monotonic() - started];
    this.took.set(device.id, took.slice(-judged));
    return frame.mimeType === "image/jpeg" ? frame : toJpeg(frame);
  }

  /** Why not every step has pictures; undefined for a device that gives them soon. */
  slowness(deviceId: string): string | undefined {
    const took = this.took.get(deviceId) ?? [];
    const least = Math.min(...took);
    if (took.length < judged || least <= slowMs) return undefined;
    return `a picture of this device takes ${Math.round(least)} ms: only steps that fail and the last one have them`;
  }
}
