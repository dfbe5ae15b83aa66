import { join } from "node:path";
import {
  type ControllerContext,
  createAddons,
  type DriverController,
  textFactory,
  type VideoFrame,
} from "@labwright/controllers";
import { Seen } from "#controllers/vision/seen.ts";
import { readText } from "#controllers/vision/text.ts";
import { controllerContext as plainContext } from "../../fixtures/controllerContext.ts";
import { type WrittenText, writtenFrame } from "../../fixtures/writtenPictures.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { alternate, median, ratiosOf, timed } from "../statistics.ts";
import { type BenchText, editDistance, heldOutTexts, knownTexts, placedTexts } from "./textSets.ts";

const rounds = 10;
/** The bench is one bundled file: its place says nothing of the project's. */
const addons = createAddons({
  shipped: join(process.cwd(), "controllers/addons"),
  installed: join(process.cwd(), ".setup/addons"),
});
const controllerContext = (id: string): ControllerContext => ({ ...plainContext(id), addons });
const never = new AbortController().signal;
const withoutAddon = { ...addons, state: () => "missing" as const };

const frameOf = (texts: readonly WrittenText[]) =>
  writtenFrame({ width: 1_920, height: 1_080, background: "#123", texts });

/** What a user would mark: some pixels around the text. */
const areaOf = ({ text, x, y, size }: WrittenText) => ({
  x: x - 10,
  y: y - size - 4,
  width: text.length * size * 0.75 + 40,
  height: size * 1.5 + 4,
});

async function wrongPercent(set: readonly BenchText[], note: (line: string) => void): Promise<number> {
  const placed = placedTexts(set);
  const frame = await frameOf(placed);
  const context = controllerContext("texts");
  let [wrong, letters] = [0, 0];
  for (const [at, { text, language }] of set.entries()) {
    const place = placed[at];
    if (!place) throw new Error(`${text} has no place`);
    const lines = await readText(
      context,
      new Seen(frame),
      { languages: [language], area: areaOf(place) },
      never,
    );
    const read = lines.map((line) => line.text).join(" ");
    const distance = editDistance(read, text);
    if (distance > 0) note(`texts: "${text}" was read as "${read}"`);
    wrong += distance;
    letters += text.length;
  }
  return (100 * wrong) / letters;
}

/** One crop by the add-on and by the program, preparation included; a new device each time, so that nothing is kept. */
async function cropTimes(): Promise<number[][]> {
  const placed = placedTexts(knownTexts).slice(0, 1);
  const [place] = placed;
  if (!place) throw new Error("no text");
  const frame = await frameOf(placed);
  const options = { languages: ["eng"], area: areaOf(place) };
  const by = (context: () => ControllerContext) => async () =>
    (await timed(() => readText(context(), new Seen(frame), options, never))).ms;
  const ours = by(() => controllerContext("ours"));
  const theirs = by(() => ({ ...controllerContext("theirs"), addons: withoutAddon }));
  return alternate([ours, theirs], { rounds, warmUps: 2 });
}

const texts = knownTexts.filter(({ language }) => language === "eng").slice(0, 10);

/** All ten, and the first of the same ten: readings differ more from each other than their checks cost. */
async function checksTimes(): Promise<number[][]> {
  const frame = await frameOf(placedTexts(texts));
  const [all, first] = [[] as number[], [] as number[]];
  for (let round = -1; round < rounds; round++) {
    const [controller] = textFactory.create(textFactory.settings.parse({}), controllerContext("checks"));
    if (!controller) throw new Error("no controller");
    const times: number[] = [];
    for (const { text } of texts) times.push((await timed(() => readOf(controller, text, frame))).ms);
    if (round < 0) continue;
    all.push(times.reduce((sum, ms) => sum + ms, 0));
    first.push(times[0] ?? Number.NaN);
  }
  return [all, first];
}

async function readOf({ checks }: DriverController, text: string, frame: VideoFrame): Promise<void> {
  const check = checks.find(({ name }) => name === "text_visible");
  await check?.read(check.input.parse({ text }), never, { frame: { ...frame } });
}

const compared = (id: string, [ours = [], theirs = []]: readonly number[][]): Measurement => ({
  ...{ id, ours: median(ours), theirs: median(theirs), runs: rounds, ratios: ratiosOf(ours, theirs) },
});

/** Texts in pictures: how well they are read, and at what cost. */
export async function measureTexts({ note }: Bench): Promise<Measurement[]> {
  return [
    { id: "texts.wrong", ours: await wrongPercent(knownTexts, note), runs: knownTexts.length },
    { id: "texts.held_out", ours: await wrongPercent(heldOutTexts, note), runs: heldOutTexts.length },
    compared("texts.crop", await cropTimes()),
    compared("texts.ten", await checksTimes()),
  ];
}
