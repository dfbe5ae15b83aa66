import { Document } from "yaml";
import type { ReferenceDocument } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Verbs } from "../steps/index.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { layOut } from "./layOut.ts";
import { sortedData, sortedTest } from "./sorted.ts";
import { writeTree } from "./writeTree.ts";
import { maxCharacters } from "./yamlDocument.ts";

export type Writing = {
  verbs: Verbs;
  /** Path or address of the JSON Schema, for the line by which editors find it. */
  schema?: string | undefined;
};

/**
 * An app as text for git, in the short form: the same app gives the same text, whatever its ids and the order of its edits.
 * `tests` are in the form that {@link writeTest} gives. Throws INPUT_TOO_LARGE for one that could not be imported again.
 */
export function exportYaml(
  model: AppModel,
  tests: readonly Readonly<Record<string, unknown>>[],
  references: readonly ReferenceDocument[],
  { verbs, schema }: Writing,
): string {
  const { name, models, app, variables, test_id_attribute } = model.ui;
  const isWeb = models.length === 1 && models[0] === "web";
  const own = tests.map((test) => (test.app === name ? without(test, "app") : test));
  const document = {
    name,
    ...(!isWeb && { models }),
    ...(Object.keys(app).length > 0 && { app: sortedData(app) }),
    ...(Object.keys(variables).length > 0 && { variables: sortedData(variables) }),
    ...(test_id_attribute !== "data-testid" && { test_id_attribute }),
    ...writeTree(model, verbs),
    ...(own.length > 0 && {
      tests: own.toSorted((a, b) => order(String(a.name), String(b.name))).map(sortedTest),
    }),
    ...(references.length > 0 && { references }),
  };
  const text = textOf(document, schema);
  if (text.length > maxCharacters) throw tooLarge(text.length, references);
  return text;
}

/** One test as a file of its own. */
export function testYaml(test: Readonly<Record<string, unknown>>, schema?: string): string {
  return textOf(sortedTest(test), schema);
}

function textOf(value: object, schema: string | undefined): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  layOut(document.contents);
  const line = schema === undefined ? "" : `# yaml-language-server: $schema=${schema}\n`;
  return `${line}${document.toString({ lineWidth: 0 })}`;
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function without(test: Readonly<Record<string, unknown>>, key: string) {
  const { [key]: _, ...rest } = test;
  return rest;
}

function tooLarge(characters: number, references: readonly ReferenceDocument[]): ToolError {
  const sizes = references.flatMap((one) =>
    one.kind === "image" ? [{ reference: one.name, characters: one.png.length }] : [],
  );
  const largest = sizes.sort((a, b) => b.characters - a.characters).slice(0, 5);
  const named = largest.map((one) => `${one.reference} (${one.characters} characters)`).join(", ");
  return new ToolError(
    "INPUT_TOO_LARGE",
    `The file would have ${characters} characters; at most ${maxCharacters} can be imported again.`,
    named === "" ? "Split the app into several userinterfaces." : `Save smaller references for ${named}.`,
    { largest },
  );
}
