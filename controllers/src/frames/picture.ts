import type { FrameFormat, VideoFrame } from "../ports.ts";
import type { Space } from "../shapes.ts";

/** Loaded with the first frame that is converted: its libraries cost 30 MB. */
const loadSharp = async () => (await import("sharp")).default;

const jpegQuality = 85;
const channels = { gray: 1, rgb: 3 } as const;

type Raw = { bytes: Uint8Array; space: Space; pixels: "gray" | "rgb" };

/** What a picture becomes; `size` undefined keeps its own. */
export type Wanted = Pick<FrameFormat, "pixels"> & { size?: { width: number; height: number } };

export const nameOf = ({ pixels, size }: Wanted): string =>
  size ? `${pixels} ${size.width}x${size.height}` : pixels;

/** One frame of a source and all that was made of it: it is decoded once, and converted once for each format. */
export class Picture {
  readonly frame: VideoFrame;
  #decoded: Promise<Raw> | undefined;
  readonly #onDecode: () => void;
  readonly #converted = new Map<string, Promise<VideoFrame>>();

  constructor(frame: VideoFrame, onDecode: () => void) {
    this.frame = frame;
    this.#onDecode = onDecode;
  }

  /** The frame in a format: in its own shape, so that it fits in the size, never enlarged. */
  as(wanted: Wanted): Promise<VideoFrame> {
    const size = fitIn(this.frame.space, wanted.size);
    const key = nameOf({ pixels: wanted.pixels, size });
    const known = this.#converted.get(key);
    if (known) return known;
    const made = this.#convert(wanted.pixels, size);
    this.#converted.set(key, made);
    return made;
  }

  async #convert(pixels: FrameFormat["pixels"], size: Space): Promise<VideoFrame> {
    const { frame } = this;
    const { width, height } = size;
    if (pixels === frame.pixels && width === frame.space.width) return frame;
    const raw = await this.#raw();
    const sharp = await loadSharp();
    const input = { width: raw.space.width, height: raw.space.height, channels: channels[raw.pixels] };
    const scaled = sharp(raw.bytes, { raw: input }).resize(width, height, { fit: "fill" });
    const bytes = await (pixels === "jpeg"
      ? scaled.jpeg({ quality: jpegQuality }).toBuffer()
      : scaled
          .toColourspace(pixels === "gray" ? "b-w" : "srgb")
          .raw()
          .toBuffer());
    return { ...frame, pixels, bytes, space: size };
  }

  #raw(): Promise<Raw> {
    this.#decoded ??= this.#decode();
    return this.#decoded;
  }

  async #decode(): Promise<Raw> {
    const { bytes, pixels, space } = this.frame;
    if (pixels !== "jpeg") return { bytes, pixels, space };
    this.#onDecode();
    const sharp = await loadSharp();
    const { data, info } = await sharp(bytes)
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    return {
      bytes: data,
      pixels: info.channels === 1 ? "gray" : "rgb",
      space: { ...space, width: info.width, height: info.height },
    };
  }
}

function fitIn(space: Space, size = { width: space.width, height: space.height }): Space {
  const scale = Math.min(1, size.width / space.width, size.height / space.height);
  const { rotation } = space;
  return {
    width: Math.max(1, Math.round(space.width * scale)),
    height: Math.max(1, Math.round(space.height * scale)),
    rotation,
  };
}
