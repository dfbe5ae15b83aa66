import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import {
  coverageSchema,
  executionSchema,
  pictureChoices,
  runMarkSchema,
  stepSchema,
} from "../../../domain/index.ts";
import { readPictures } from "./pictures.ts";
import type { ReportEntry, SkippedTest } from "./types.ts";

/** Raised when an older Labwright could not read what this one writes. */
const format = 3;
/** Of the runs of one page, unpacked. */
const maxBytes = 512 * 1024 * 1024;

const entriesSchema = z.array(
  z.object({
    execution: executionSchema,
    steps: z.array(stepSchema),
    pictureChoice: z.enum(pictureChoices).optional(),
    requirements: z
      .array(z.object({ code: z.string(), name: z.string(), coverage: coverageSchema }))
      .optional(),
    files: z.array(z.string()).optional(),
    group: z.string().optional(),
    history: z.array(runMarkSchema).optional(),
  }),
);

/** The runs of a page as data, which no browser shows: every report of them can be made again from the page alone. */
export function runsOf(entries: readonly ReportEntry[], skipped: readonly SkippedTest[]): string {
  const data = { runs: entries.map(({ pictures: _, ...entry }) => entry), skipped };
  const packed = gzipSync(JSON.stringify(data)).toString("base64");
  return `<template id="labwright-runs" data-format="${format}">${packed}</template>`;
}

const packedRuns = /<template id="labwright-runs" data-format="(\d+)">([A-Za-z0-9+/=]*)<\/template>/;

/** The runs, and the tests that were not run, of a page that {@link htmlReport} made, in their order. Throws an Error that says what is wrong with it. */
export function readReport(page: string): { entries: ReportEntry[]; skipped: SkippedTest[] } {
  const [, itsFormat, packed = ""] = packedRuns.exec(page) ?? [];
  if (itsFormat === undefined) throw new Error("it is not a report that Labwright made, or it was cut off");
  if (Number(itsFormat) !== format) throw new Error("another version of Labwright made it");
  const pictures = readPictures(page);
  const { runs, skipped } = unpack(packed);
  const entries = runs.map(({ requirements, pictureChoice, files, group, history, ...entry }) => ({
    ...entry,
    pictures,
    ...(requirements && { requirements }),
    ...(pictureChoice && { pictureChoice }),
    ...(files && { files }),
    ...(group !== undefined && { group }),
    ...(history && { history }),
  }));
  return { entries, skipped };
}

const dataSchema = z.object({
  runs: entriesSchema,
  skipped: z.array(
    z.object({
      name: z.string(),
      reason: z.string(),
      isError: z.boolean().optional(),
      group: z.string().optional(),
    }),
  ),
});

function unpack(packed: string): z.output<typeof dataSchema> {
  try {
    const text = gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: maxBytes }).toString("utf8");
    return dataSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error("its runs cannot be read: the file is damaged", { cause: error });
  }
}
