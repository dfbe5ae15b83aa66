import type { ApiCheck } from "../../../../domain/index.ts";

export type JsonSchema = Exclude<ApiCheck["json_schema"], string | undefined>;

/** `pointer` is the JSON Pointer of what breaks the schema. */
type SchemaFinding = { pointer: string; expected: string };

/** `schema` and `value` are JSON text, in which numbers keep their digits. Without a `value` the schema alone is judged. */
export type SchemaQuestion = { id: number; schema: string; value?: string };
/** `problem` says why the schema is none; `more` counts findings that are not listed. */
export type SchemaAnswer = { id: number; problem?: string; findings: SchemaFinding[]; more: number };
