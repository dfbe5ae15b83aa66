import { z } from "zod";
import { type Check, defineCheck } from "../../contract.ts";
import { matcherFor, matches, matchSchema, matchWords, partNote } from "../../elements/match.ts";
import { quoted } from "../../elements/quoted.ts";
import { missing } from "../../elements/readings.ts";
import { aboutIn } from "../../elements/titles.ts";
import { endText, type ReceivedDownload } from "../browser/downloads.ts";
import type { CheckSession } from "../browser/session.ts";
import { latest } from "./lookup.ts";

type Wanted = {
  name?: string | undefined;
  match: z.output<typeof matchSchema>;
  bytes?: number | undefined;
  min_bytes?: number | undefined;
  sha256?: string | undefined;
  text?: string | undefined;
  text_match: z.output<typeof matchSchema>;
};

export function downloadChecks(session: CheckSession): Check[] {
  return [
    defineCheck({
      name: "download_received",
      description: `A file was downloaded whole in this session: its name, size, digest and text; ${matchWords}`,
      input: z.strictObject({
        name: z.string().min(1).max(500).optional(),
        match: matchSchema.default("same"),
        bytes: z.int().min(0).optional(),
        min_bytes: z.int().min(0).optional(),
        sha256: z
          .string()
          .regex(/^[\da-f]{64}$/i)
          .optional(),
        text: z.string().max(100_000).optional(),
        text_match: matchSchema.default("words"),
      }),
      judges: (wanted) => (hasContent(wanted) ? "subject" : "presence"),
      title: (_, input) => `a download was received${aboutIn(input, "name")}`,
      async read(wanted) {
        const { history } = session.downloads;
        const expected = `a download ${describe(wanted)} was received`;
        const isNamed = await namesOf(
          wanted,
          history.map(({ name }) => name),
        );
        const named = history.filter(({ name }) => isNamed(name));
        const { hit, last: actual } = await latest(named, async (one) => {
          const lack = await missingOf(wanted, one);
          return lack && `${one.name}: ${lack}`;
        });
        if (hit) return { holds: true, expected, actual: `received: ${hit.name}` };
        const isComing = named.some((download) => download.end() === undefined);
        const others = history.map(({ name }) => name).slice(-5);
        return {
          holds: false,
          expected,
          actual:
            actual ?? (others.length > 0 ? `${others.length} others were received` : "none was received"),
          ...missing(actual === undefined, isComing),
          ...(actual === undefined && others.length > 0 ? { nearest: others } : {}),
        };
      },
    }),
  ];
}

/** The check is about the file's contents, and not only its presence. */
const hasContent = ({ bytes, min_bytes, sha256, text }: Partial<Wanted>): boolean =>
  [bytes, min_bytes, sha256, text].some((one) => one !== undefined);

const namesOf = async ({ name, match }: Wanted, found: readonly string[]) =>
  name === undefined ? () => true : matcherFor(match, name, found);

/** How a download differs from what is wanted; undefined if it does not. */
async function missingOf(wanted: Wanted, download: ReceivedDownload): Promise<string | undefined> {
  const end = download.end();
  if (end === undefined) return "it is still on its way";
  if (!end.ok) return endText(end);
  const { bytes, sha256, text } = await download.read();
  if (wanted.bytes !== undefined && bytes !== wanted.bytes) return `it has ${bytes} bytes`;
  if (wanted.min_bytes !== undefined && bytes < wanted.min_bytes) return `it has ${bytes} bytes`;
  if (wanted.sha256 !== undefined && sha256 !== wanted.sha256.toLowerCase()) return `its sha256 is ${sha256}`;
  if (wanted.text === undefined) return undefined;
  if (text === undefined) return "it is not text";
  return (await matches(wanted.text_match, wanted.text, text))
    ? undefined
    : `its text is ${quoted(text, wanted.text)}${partNote(wanted.text_match, wanted.text, [text])}`;
}

function describe({ name, bytes, min_bytes, sha256, text }: Wanted): string {
  const parts = [
    name !== undefined && quoted(name),
    bytes !== undefined && `of ${bytes} bytes`,
    min_bytes !== undefined && `of at least ${min_bytes} bytes`,
    sha256 !== undefined && `with sha256 ${sha256.slice(0, 12)}…`,
    text !== undefined && `with text ${quoted(text)}`,
  ];
  return parts.filter(Boolean).join(" ");
}
