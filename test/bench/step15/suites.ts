import type { Suites } from "../sides.ts";
import { measureCapture } from "./capture.ts";
import { measureIdle } from "./idle.ts";
import { measureImages } from "./images.ts";
import { measureKodiZaps } from "./kodiZaps.ts";
import { measureStreams, measureStreamTime } from "./streams.ts";
import { measureTexts } from "./texts.ts";
import { measureZaps } from "./zaps.ts";

/** TVs and set-top boxes by picture, sound and remote. */
export const step15: Suites = {
  capture: measureCapture,
  idle: measureIdle,
  images: measureImages,
  kodi: measureKodiZaps,
  streams: measureStreams,
  streams12: measureStreamTime,
  texts: measureTexts,
  zaps: measureZaps,
};
