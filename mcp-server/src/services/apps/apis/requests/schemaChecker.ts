import type { ApiCheck } from "../../../../domain/index.ts";
import { ToolError } from "../../../../errors.ts";
import { createWorkerThread } from "../../../threads/workerThread.ts";
import { jsonText } from "../../../values/exactNumbers.ts";
import { withExactNumbers } from "../../../values/values.ts";

/** A caller's schema runs in a thread with limits of time and memory per answer. The smallest heap holds most schemas. */
const resourceLimits = { maxOldGenerationSizeMb: 36, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 };
const longestSchema = 500_000;

export type JsonSchema = Exclude<ApiCheck["json_schema"], string | undefined>;

/** `pointer` is the JSON Pointer of what breaks the schema. */
type SchemaFinding = { pointer: string; expected: string };

/** `schema` and `value` are JSON text, in which numbers keep their digits. Without a `value` the schema alone is judged. */
export type SchemaQuestion = { schema: string; value?: string };
/** `problem` says why the schema is none; `more` counts findings that are not listed. */
export type SchemaAnswer = { problem?: string; findings: SchemaFinding[]; more: number };

export type SchemaChecker = {
  /** Judges a schema, and a value by it. Throws INVALID_INPUT for a bad schema, EXECUTION_TIMEOUT and OUT_OF_MEMORY. */
  check(schema: JsonSchema, value?: { json: unknown }): Promise<SchemaAnswer>;
  close(): Promise<void>;
};

/** Measured: 500 KB of schema compile in 48 MB, 1.6 MB of an answer are judged in 48 MB. */
const neededMb = ({ schema, value = "" }: SchemaQuestion) =>
  28 + (48 * schema.length + 24 * value.length) / 1_000_000;

/** The thread starts with the first check, and again after a check that broke it. */
export function createSchemaChecker(workerFile?: URL): SchemaChecker {
  const thread = createWorkerThread<SchemaQuestion, SchemaAnswer>({
    ...{ name: "schemaWorker", file: workerFile, timeoutMs: 15_000, resourceLimits, neededMb },
    work: "The check by JSON Schema",
    hint: "Check a part of the answer with json_path, or take nested anyOf and patterns with repeats out of the schema.",
  });
  return {
    async check(schema, value) {
      const text = jsonText(withExactNumbers(schema)) ?? "";
      if (text.length > longestSchema) throw invalid(`is longer than ${longestSchema} characters`);
      const question = { schema: text, ...(value && { value: jsonText(value.json) ?? "null" }) };
      const answer = await thread.ask(question);
      if (answer.problem !== undefined) throw invalid(`cannot be used: ${answer.problem}`);
      return answer;
    },
    close: thread.close,
  };
}

const invalid = (what: string) =>
  new ToolError(
    "INVALID_INPUT",
    `The JSON Schema ${what}.`,
    "It is JSON Schema 2020-12, or draft-07 where $schema says so; correct it and save the test case again.",
  );
