import { type Engine, likeByDifference, plainEngine } from "./imageEngine.ts";
import { type Match, type Pyramid, pyramidOf, search, type Wanted } from "./imageSearch.ts";
import { cut, type Plane } from "./planes.ts";

/** `opencv` is its file; without it, the plain engine. Pictures of one `id` are the same. */
export type ImageQuestion = {
  id: number;
  picture: Plane;
  area?: { x: number; y: number; width: number; height: number };
  wanted: Wanted;
  opencv?: string;
};
export type ImageAnswer = { matches: Match[] } | { failure: string };

type Mat = { data: Uint8Array; data32F: Float32Array; delete(): void };
type OpenCv = {
  Mat: new (rows?: number, columns?: number, type?: number) => Mat;
  CV_8UC1: number;
  TM_CCOEFF_NORMED: number;
  TM_SQDIFF: number;
  pyrDown(from: Mat, to: Mat): void;
  matchTemplate(image: Mat, template: Mat, result: Mat, method: number, mask?: Mat): void;
};
type Port = {
  on(name: "message", listener: (question: ImageQuestion) => void): void;
  postMessage(answer: ImageAnswer): void;
};

const mostPyramids = 3;

/** Answers the questions of a thread. `load` is its `require`. */
export function serve(port: Port, load: (file: string) => unknown): void {
  const pyramids = new Map<string, Pyramid>();
  const engines = new Map<string, Promise<Engine>>();
  const engineOf = (file?: string): Promise<Engine> => {
    if (file === undefined) return Promise.resolve(plainEngine);
    const engine = engines.get(file) ?? opencvEngine(load(file));
    engines.set(file, engine);
    return engine;
  };
  port.on("message", async ({ id, picture, area, wanted, opencv }) => {
    try {
      const engine = await engineOf(opencv);
      const key = `${id} ${opencv ?? ""} ${area ? Object.values(area).join(" ") : ""}`;
      const pyramid = pyramids.get(key) ?? pyramidOf(engine, area ? cut(picture, area) : picture);
      pyramids.delete(key);
      pyramids.set(key, pyramid);
      for (const old of [...pyramids.keys()].slice(0, -mostPyramids)) pyramids.delete(old);
      port.postMessage({ matches: search(engine, pyramid, wanted) });
    } catch (error) {
      port.postMessage({ failure: String(error) });
    }
  });
}

/** The package is a promise of a module that has a `then` too: it must not be the value of another promise. */
export async function opencvEngine(loaded: unknown): Promise<Engine> {
  const { cv } = await new Promise<{ cv: OpenCv }>((resolve, reject) => {
    const module = loaded as { then(ready: (cv: OpenCv) => void, failed: (error: unknown) => void): void };
    module.then((cv) => resolve({ cv }), reject);
  });
  return engineWith(cv);
}

function engineWith(cv: OpenCv): Engine {
  const matOf = ({ bytes, width, height }: Plane) => {
    const mat = new cv.Mat(height, width, cv.CV_8UC1);
    mat.data.set(bytes);
    return mat;
  };
  const using = <Value>(mats: readonly Mat[], work: () => Value): Value => {
    try {
      return work();
    } finally {
      for (const mat of mats) mat.delete();
    }
  };
  return {
    halved(plane) {
      const [from, to] = [matOf(plane), new cv.Mat()];
      return using([from, to], () => {
        cv.pyrDown(from, to);
        return { bytes: to.data.slice(), width: (plane.width + 1) >> 1, height: (plane.height + 1) >> 1 };
      });
    },
    scores(image, template, method, mask) {
      const [whole, part, result] = [matOf(image), matOf(template), new cv.Mat()];
      const masks = mask ? [matOf(mask)] : [];
      const [width, height] = [image.width - template.width + 1, image.height - template.height + 1];
      return using([whole, part, result, ...masks], () => {
        const isDifference = method === "difference";
        cv.matchTemplate(whole, part, result, isDifference ? cv.TM_SQDIFF : cv.TM_CCOEFF_NORMED, ...masks);
        const counted = mask ? mask.bytes.filter(Boolean).length : template.bytes.length;
        const values = isDifference
          ? result.data32F.map((sum) => likeByDifference(sum / counted))
          : result.data32F.map((score) => (Number.isFinite(score) && Math.abs(score) < 1.01 ? score : 0));
        return { values, width, height };
      });
    },
  };
}
