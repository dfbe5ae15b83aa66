import { DeviceError } from "../errors.ts";
import type { Moment, Sound, SoundLevel } from "../ports.ts";
import { untilAborted } from "../waiting/deadlines.ts";

export const soundPerSecond = 16_000;
const mostListenMs = 600_000;

type Listener = {
  parts: Buffer[];
  missing: number;
  at: Moment;
  done(sound: Sound): void;
  fail(error: Error): void;
};

/** Levels of the last seconds, and the sound itself for those that listen. */
export class SoundRing {
  readonly #levels: SoundLevel[] = [];
  readonly #listeners = new Set<Listener>();
  #level: SoundLevel | undefined;

  /** About 100 ms of sound began. */
  begin(at: Moment, keptMs: number): void {
    if (this.#level) this.#levels.push(this.#level);
    this.#level = { at, peakDb: Number.NEGATIVE_INFINITY, loudness: Number.NEGATIVE_INFINITY };
    const outdated = this.#levels.findIndex((level) => level.at >= at - keptMs);
    this.#levels.splice(0, outdated < 0 ? this.#levels.length : outdated);
  }

  note(key: string, value: string): void {
    if (!this.#level) return;
    const db = value === "-inf" ? Number.NEGATIVE_INFINITY : Number(value);
    if (key === "lavfi.r128.M") this.#level = { ...this.#level, loudness: db };
    else if (key === "lavfi.astats.Overall.Peak_level") this.#level = { ...this.#level, peakDb: db };
  }

  levels(from: Moment): readonly SoundLevel[] {
    return this.#levels.filter(({ at }) => at >= from);
  }

  /** Samples of 16 bits; `at` is when the first of them was heard. */
  add(pcm: Buffer, at: Moment): void {
    for (const listener of this.#listeners) {
      if (listener.parts.length === 0) listener.at = at;
      const part = pcm.subarray(0, listener.missing);
      listener.parts.push(part);
      listener.missing -= part.length;
      if (listener.missing > 0) continue;
      this.#listeners.delete(listener);
      listener.done({
        samples: samplesOf(Buffer.concat(listener.parts)),
        perSecond: soundPerSecond,
        at: listener.at,
      });
    }
  }

  async listen(ms: number, signal: AbortSignal): Promise<Sound> {
    if (!(ms > 0 && ms <= mostListenMs))
      throw new DeviceError("INVALID_PARAMS", "Sound can be listened to for up to 600,000 ms; ask for less.");
    let listener: Listener | undefined;
    const heard = new Promise<Sound>((done, fail) => {
      const missing = Math.ceil((ms / 1_000) * soundPerSecond) * 2;
      listener = { parts: [], missing, at: 0, done, fail };
      this.#listeners.add(listener);
    });
    try {
      return await untilAborted(heard, signal);
    } finally {
      if (listener) this.#listeners.delete(listener);
    }
  }

  /** The stream ended: no more sound comes. */
  stop(error: Error): void {
    this.#level = undefined;
    for (const listener of this.#listeners) listener.fail(error);
    this.#listeners.clear();
  }
}

function samplesOf(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / 2));
  for (let at = 0; at < samples.length; at++) samples[at] = bytes.readInt16LE(at * 2) / 32_768;
  return samples;
}
