import { createRequire } from "node:module";
import { join } from "node:path";
import { createAddons } from "@labwright/controllers";
import sharp from "sharp";
import { type Match, pyramidOf, search } from "#controllers/vision/imageSearch.ts";
import { opencvEngine } from "#controllers/vision/imageWorker.ts";
import {
  draw,
  type Gray,
  gray,
  jpeg,
  scaled,
  templateOf,
  tilesOf,
  type Variant,
  variants,
} from "../../fixtures/uiPictures.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";

const scales = [1, 0.98, 1.02, 0.96, 1.04, 0.94, 1.06];
const score = 0.8;
const rounds = 7;
const heldOutScales = [1, 0.97, 1.03, 0.95, 1.05];
const heldOut = { firstSeed: 101, screens: 4, tiles: 5 };

type Engine = Awaited<ReturnType<typeof opencvEngine>>;

function isRight(engine: Engine, template: Gray, { picture, at }: Variant): boolean {
  const [match] = search(engine, pyramidOf(engine, picture), { template, score, scales, most: 1 });
  if (!match?.isConfirmed || match.score < score) return at === undefined;
  return at !== undefined && isNear(match, at);
}

const isNear = ({ x, y, width, height }: Match, at: { x: number; y: number }) =>
  Math.abs(x + width / 2 - at.x) < 5 && Math.abs(y + height / 2 - at.y) < 5;

/** Other screens than those that the limits were chosen on: each tile in five sizes and as JPEG, and each removed once. */
async function onHeldOut(engine: Engine) {
  let [found, missing, falseOnes] = [0, 0, 0];
  for (let seed = heldOut.firstSeed; seed < heldOut.firstSeed + heldOut.screens; seed++) {
    const tiles = tilesOf(seed);
    const png = await draw(tiles);
    for (const tile of tiles.slice(10, 10 + heldOut.tiles)) {
      const template = await templateOf(png, tile);
      const all = [await jpeg(png, tile, 70)];
      for (const scale of heldOutScales) all.push(await scaled(png, tile, scale));
      const right = all.filter((variant) => isRight(engine, template, variant)).length;
      found += right;
      missing += all.length - right;
      const picture = await gray(sharp(await draw(tiles.filter((one) => one !== tile))));
      if (!isRight(engine, template, { name: "removed", picture })) falseOnes++;
    }
  }
  return { found, share: found / (found + missing), falseOnes };
}

/** Needs the add-on `vision`; no daemon. */
export async function measureImages({ sides: { root } }: Bench): Promise<Measurement[]> {
  const addons = createAddons({
    shipped: join(root, "controllers/addons"),
    installed: join(root, ".setup/addons"),
  });
  const folder = join(addons.folder("vision"), "node_modules", "@techstark", "opencv-js");
  const engine = await opencvEngine(createRequire(import.meta.url)(folder));
  const { template, all } = await variants(1);
  const right = all.filter((variant) => isRight(engine, template, variant)).length;
  const whole = all[0]?.picture;
  if (!whole) throw new Error("There is no picture.");
  const cpu = (work: () => void) => async () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const ours = cpu(() => search(engine, pyramidOf(engine, whole), { template, score, scales, most: 1 }));
  const theirs = cpu(() => engine.scores(whole, template, "correlation"));
  const [found, plain] = [[] as number[], [] as number[]];
  for (let round = 0; round < rounds; round++) {
    found.push(await ours());
    plain.push(await theirs());
  }
  const [oursMs, theirsMs] = [Math.min(...found), Math.min(...plain)];
  const held = await onHeldOut(engine);
  return [
    { id: "images.match", ours: oursMs, theirs: theirsMs, runs: rounds },
    { id: "images.variants", ours: right, runs: all.length },
    { id: "images.heldout", ours: held.share, runs: 120 },
    { id: "images.false", ours: held.falseOnes, runs: heldOut.screens * heldOut.tiles },
  ];
}
