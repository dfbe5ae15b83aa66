import { z } from "zod";
import { type Check, type ControllerContext, defineCheck } from "../contract.ts";
import { inconclusive, ofSubject } from "../elements/readings.ts";
import { type Pixels, Seen, see } from "../vision/seen.ts";

const blockSide = 8;

/** Blocks of a codec, against a picture of the same device that was saved while it was good. */
export const blockinessCheck = (context: ControllerContext): Check =>
  defineCheck({
    name: "blockiness",
    description:
      "Experimental: the edges of 8-pixel blocks are at most max_ratio times as strong as in a reference of the whole screen.",
    byPicture: true,
    judges: ofSubject,
    input: z.strictObject({
      reference: z
        .string()
        .min(1)
        .max(200)
        .describe("A picture of the same size, saved while the picture was good."),
      max_ratio: z.number().min(1).max(100).default(1.5),
    }),
    async read({ reference, max_ratio }, signal, look = {}) {
      const expected = `blockiness at most ${max_ratio} times that of "${reference}"`;
      const { picture } = await context.reference(reference, signal);
      const seen = await see(context, look, signal);
      if (typeof seen === "string") return inconclusive(expected, seen);
      const good = new Seen(picture);
      const { width, height } = seen.space;
      if (good.space.width !== width || good.space.height !== height)
        return inconclusive(
          expected,
          `the reference has ${good.space.width} x ${good.space.height} pixels, the picture ${width} x ${height}; save it again`,
        );
      const [now, before] = await Promise.all([seen.gray(), good.gray()]);
      const ratio = Math.round((100 * blockiness(now)) / blockiness(before)) / 100;
      return {
        ...{ holds: ratio <= max_ratio, expected, actual: `${ratio} times (experimental)` },
        pictures: [await seen.frame()],
      };
    },
  });

/** The mean step across the edges of blocks, by that within them; about 1 for a picture without blocks. */
function blockiness({ bytes, width, height }: Pixels): number {
  const edges = { total: 0, count: 0 };
  const inside = { total: 0, count: 0 };
  for (let y = 0; y < height; y++)
    for (let x = 1; x < width; x++) {
      const at = y * width + x;
      const steps = x % blockSide === 0 ? edges : inside;
      steps.total += Math.abs((bytes[at] ?? 0) - (bytes[at - 1] ?? 0));
      steps.count++;
    }
  const mean = ({ total, count }: typeof edges) => (total + 1) / (count + 1);
  return mean(edges) / mean(inside);
}
