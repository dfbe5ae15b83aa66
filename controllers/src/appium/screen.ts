import { z } from "zod";
import type { ScreenSource } from "../contract.ts";
import { screenSource, sizeOf, type Taken } from "../phones/pictures.ts";
import type { Point } from "../screens/input.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { AppiumDevice } from "./device.ts";
import { answerAs } from "./failures.ts";

const captureMs = 60_000;

/** Pictures, and the size of a unit of the tree in their pixels: iOS counts in points. */
export type Pictures = {
  screen: ScreenSource;
  inTree(pixel: Point, signal: AbortSignal): Promise<Point>;
};

/** Pictures by WebDriver's screenshot. Throws SECURE_SCREEN where an app forbids them. */
export function createPictures(device: AppiumDevice, reader: ScreenReader): Pictures {
  /** Pixels of a unit of the tree: the same for as long as it is the same device. */
  let scale: number | undefined;
  const take = async (signal: AbortSignal): Promise<Taken> => {
    const base64 = await device.call("takeScreenshot", [], signal, { timeoutMs: captureMs });
    const bytes = Buffer.from(answerAs(z.string(), "takeScreenshot", base64), "base64");
    const { width, height } = await sizeOf(bytes);
    const { platform, screen } = device.facts();
    const isTurned = width > height !== screen.width > screen.height;
    scale = platform === "android" ? 1 : width / (isTurned ? screen.height : screen.width);
    return { bytes, space: { width, height, rotation: isTurned ? 90 : 0 }, scale };
  };
  return {
    async inTree({ x, y }, signal) {
      if (scale === undefined && device.facts().platform !== "android") await take(signal);
      const by = scale ?? 1;
      return { x: Math.floor(x / by), y: Math.floor(y / by) };
    },
    screen: screenSource(reader, take),
  };
}
