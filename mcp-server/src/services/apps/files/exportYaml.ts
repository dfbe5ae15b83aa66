import { Document } from "yaml";
import type { ReferenceDocument } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { sizeProblem } from "../../values/yamlSource.ts";
import type { Verbs } from "../steps/index.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { layOut, order, sortedData, sortedTest } from "./layOut.ts";
import { writeTree } from "./writeTree.ts";

export type Writing = {
  verbs: Verbs;
  /** Path or address of the JSON Schema, for the line by which editors find it. */
  schema?: string | undefined;
};

type Test = Readonly<Record<string, unknown>>;
/** What a file has besides the model of its app. `tests` are in the form of {@link writeTest}. */
export type Extras = { tests: readonly Test[]; references: readonly ReferenceDocument[] };

/** An app as text for git. Ids and the order of edits do not matter. Throws INPUT_TOO_LARGE if it could not be imported again. */
export function exportYaml(
  model: AppModel,
  { tests, references }: Extras,
  { verbs, schema }: Writing,
): string {
  const sorted = tests.toSorted((a, b) => order(String(a.name), String(b.name)));
  const text = yamlText(appDocument(model, { tests: sorted, references }, verbs), schema);
  const problem = sizeProblem(text);
  if (problem !== undefined) throw tooLarge(problem, references);
  return text;
}

export function appDocument(model: AppModel, { tests, references }: Extras, verbs: Verbs): Test {
  const { name, models, app, variables, test_id_attribute } = model.ui;
  const isWeb = models.length === 1 && models[0] === "web";
  return {
    name,
    ...(!isWeb && { models }),
    ...(Object.keys(app).length > 0 && { app: sortedData(app) }),
    ...(Object.keys(variables).length > 0 && { variables: sortedData(variables) }),
    ...(test_id_attribute !== "data-testid" && { test_id_attribute }),
    ...writeTree(model, verbs),
    ...(tests.length > 0 && { tests: testsOf(name, tests) }),
    ...(references.length > 0 && { references }),
  };
}

export const testsDocument = (app: string | undefined, tests: readonly Test[]): Test => ({
  ...(app !== undefined && { app }),
  tests: testsOf(app, tests),
});

export const testYaml = (test: Test, schema?: string): string => yamlText(sortedTest(test), schema);

/** Tests of the app that the file names do not name it. */
const testsOf = (app: string | undefined, tests: readonly Test[]) =>
  tests.map((test) => {
    const own = Object.entries(test).filter(([key, value]) => key !== "app" || value !== app);
    return sortedTest(Object.fromEntries(own));
  });

export function yamlText(value: object, schema?: string): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  layOut(document.contents);
  const line = schema === undefined ? "" : `# yaml-language-server: $schema=${schema}\n`;
  return `${line}${document.toString({ lineWidth: 0 })}`;
}

function tooLarge(problem: string, references: readonly ReferenceDocument[]): ToolError {
  const sizes = references.flatMap((one) =>
    one.kind === "image" ? [{ reference: one.name, characters: one.png.length }] : [],
  );
  const largest = sizes.sort((a, b) => b.characters - a.characters).slice(0, 5);
  const named = largest.map((one) => `${one.reference} (${one.characters} characters)`).join(", ");
  return new ToolError(
    "INPUT_TOO_LARGE",
    `The file could not be imported again: ${problem}.`,
    named === "" ? "Split the app into several userinterfaces." : `Save smaller references for ${named}.`,
    { largest },
  );
}
