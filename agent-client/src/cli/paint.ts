import { styleText } from "node:util";
import type { Environment } from "./agentClient.ts";

/** Marks what a text is; each is the text itself where there are no colours. */
export type Paint = Readonly<Record<"dim" | "strong" | "good" | "bad" | "warn", (text: string) => string>>;

type Style = Parameters<typeof styleText>[0];
// Whether there is a terminal was decided before: styleText would look at stdout itself.
const styled = (style: Style) => (text: string) => styleText(style, text, { validateStream: false });
const asItIs = (text: string) => text;

const coloured: Paint = {
  dim: styled("dim"),
  strong: styled("bold"),
  good: styled("green"),
  bad: styled("red"),
  warn: styled("yellow"),
};
const uncoloured: Paint = { dim: asItIs, strong: asItIs, good: asItIs, bad: asItIs, warn: asItIs };

export const paintOf = (hasColours: boolean): Paint => (hasColours ? coloured : uncoloured);

/** Only on a terminal that can, and not against NO_COLOR (no-color.org). */
export const wantsColours = (stream: { isTTY?: boolean }, env: Environment): boolean =>
  stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
