import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** The languages that texts are read in, by their ISO 639-2 codes. */
export const languages = ["deu", "eng", "fra", "spa"];

const folderOf = (language) =>
  join(dirname(require.resolve(`@tesseract.js-data/${language}/package.json`)), "4.0.0_best_int");

/** Tesseract's page segmentation modes. */
const modes = { block: "6", line: "7", page: "3" };

/**
 * Starts a thread that reads texts of one language, from the models of this add-on alone. `read` takes a whole image file (PGM
 * is the quickest) and a mode of layout, one call at a time, and returns lines as Tesseract has them. `ended` rejects when the
 * thread is gone.
 */
export async function openTextReader(language) {
  const { createWorker, OEM } = require("tesseract.js");
  let fail;
  const ended = new Promise((_, reject) => {
    fail = (cause) => reject(cause instanceof Error ? cause : new Error(String(cause)));
  });
  ended.catch(() => {});
  const opening = createWorker(language, OEM.LSTM_ONLY, {
    langPath: folderOf(language),
    gzip: true,
    cacheMethod: "none",
    errorHandler: fail,
  });
  const tesseract = await Promise.race([opening, ended]);
  const { worker } = tesseract;
  worker.on("error", fail);
  worker.on("exit", () => fail("the thread ended"));
  let mode;
  return {
    ended,
    async read(image, wanted) {
      worker.ref();
      try {
        // Without a resolution, Tesseract writes its guess to stderr for each picture.
        const parameters = { tessedit_pageseg_mode: modes[wanted], user_defined_dpi: "300" };
        if (mode !== wanted) await tesseract.setParameters(parameters);
        mode = wanted;
        const { data } = await tesseract.recognize(image, {}, { blocks: true, text: false });
        const paragraphs = (data.blocks ?? []).flatMap((block) => block.paragraphs);
        return paragraphs.flatMap((paragraph) => paragraph.lines).map(plainLine);
      } finally {
        worker.unref();
      }
    },
    async end() {
      await tesseract.terminate();
    },
  };
}

const plain = ({ text, confidence, bbox: { x0, y0, x1, y1 } }) => ({
  text,
  confidence,
  rect: { x: x0, y: y0, width: x1 - x0, height: y1 - y0 },
});
const plainLine = (line) => ({ ...plain(line), words: line.words.map(plain) });
