import { readFile } from "node:fs/promises";
import type { VideoFrame } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Uploads } from "../../policy/uploads.ts";
import type { ArtifactStore } from "../../ports.ts";

const artifactUri = /^artifact:\/\/(?:sha256\/)?([0-9a-f]{64})$/;
const mostPixels = 100_000_000;

/** A picture to judge in place of the screen: an artifact by its URI, else a file of the uploads folder. Throws INVALID_INPUT. */
export const readsPictures =
  ({ artifacts, uploads }: { artifacts: Pick<ArtifactStore, "get">; uploads: Pick<Uploads, "path"> }) =>
  async (source: string): Promise<VideoFrame> => {
    const [, sha256] = artifactUri.exec(source) ?? [];
    const file =
      sha256 === undefined ? await readFile(uploads.path(source)) : (await artifacts.get(sha256)).bytes;
    const { default: sharp } = await import("sharp");
    try {
      const picture = sharp(file, { limitInputPixels: mostPixels })
        .rotate()
        .toColourspace("srgb")
        .removeAlpha();
      const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
      const space = { width: info.width, height: info.height, rotation: 0 } as const;
      return { number: 1, presentedMs: 0, arrivedAt: performance.now(), pixels: "rgb", bytes: data, space };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolError(
        "INVALID_INPUT",
        `${source} is not a picture: ${why}.`,
        "Give a PNG, JPEG or WebP picture.",
      );
    }
  };
