import { z } from "zod";
import { durationMs } from "./common.ts";

const error = 'a status is a code such as 200, a class such as "2xx", or a list of them';
const oneStatus = [z.int().min(100).max(599), z.string().regex(/^[1-5](xx|\d\d)$/, error)] as const;
const statusSchema = z.union([...oneStatus, z.array(z.union(oneStatus)).min(1).max(20)], { error });
export type WantedStatus = z.output<typeof statusSchema>;

export const jsonTypes = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
export type JsonType = (typeof jsonTypes)[number];

/** Names one of `status`, `header`, `json_path`, `time_below_ms` and `json_schema`. The other fields say what must hold there. */
export const apiCheckSchema = z.strictObject({
  status: statusSchema.optional(),
  /** The check counts only for replies with this status. */
  if_status: statusSchema.optional(),
  header: z.string().min(1).max(200).optional(),
  /** Such as `$.items[0].id`; `[*]` means every item, and there must be one. `$` of an answer that is not JSON is its text. */
  json_path: z.string().min(1).max(500).optional(),
  time_below_ms: durationMs(120_000).optional(),
  equals: z.unknown().optional(),
  /** An RE2 pattern that is found in the text. */
  matches: z.string().min(1).max(1_000).optional(),
  type: z.enum(jsonTypes).optional(),
  present: z.boolean().optional(),
  /** JSON Schema 2020-12, or draft-07 where `$schema` says so. `{{name}}` takes it from a variable. */
  json_schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean(), z.string().regex(/^\{\{[^{}]+\}\}$/)], {
      error: "a JSON Schema is an object, true or false, or {{name}} of a variable that holds one",
    })
    .optional(),
});
export type ApiCheck = z.output<typeof apiCheckSchema>;

const text = z.union([z.string(), z.number(), z.boolean()]);
const filePart = z.strictObject({
  file: z.string().min(1).max(500),
  filename: z.string().min(1).max(200).optional(),
  content_type: z.string().min(1).max(200).optional(),
});
const part = [...text.options, filePart] as const;

/** The fields of an `api_request` block besides those of all blocks. At most one of the bodies is given. */
export const apiRequestShape = {
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]).default("GET"),
  url: z.string().min(1).max(2_000),
  headers: z.record(z.string(), z.string()).default({}),
  /** A text goes as it is, anything else as JSON. */
  body: z.unknown().optional(),
  /** Goes as `application/x-www-form-urlencoded`. */
  form: z
    .record(
      z.string(),
      z.union([...text.options, z.array(text).max(100)], {
        error: "a form's value is a text, a number, true or false, or a list of them",
      }),
    )
    .optional(),
  /** Goes as `multipart/form-data`; files are names inside the uploads folder. */
  multipart: z
    .record(
      z.string(),
      z.union([...part, z.array(z.union(part)).max(20)], {
        error:
          "a part is a text, a number, true or false, {file, filename?, content_type?}, or a list of them",
      }),
    )
    .optional(),
  /** A file of the uploads folder as the whole body. */
  body_file: z.string().min(1).max(500).optional(),
  follow_redirects: z.boolean().default(true),
  /** Short for a check of the status. */
  expect_status: statusSchema.optional(),
  checks: z.array(apiCheckSchema).max(50).default([]),
  timeout_ms: durationMs(120_000).default(30_000),
};
export const apiRequestSchema = z.strictObject(apiRequestShape);
export type ApiRequest = z.output<typeof apiRequestSchema>;
export type MultipartPart = z.output<typeof filePart> | string | number | boolean;

export const repeatWords = "Repeat it with: ";
