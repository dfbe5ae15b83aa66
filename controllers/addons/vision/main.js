import { createRequire } from "node:module";

/** The file of OpenCV, which only a worker thread may load: it takes about 280 MB. */
export const opencv = createRequire(import.meta.url).resolve("@techstark/opencv-js");
