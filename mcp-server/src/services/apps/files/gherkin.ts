import { AstBuilder, dialects, Errors, GherkinClassicTokenMatcher, Parser } from "@cucumber/gherkin";
import type { Examples, Feature, GherkinDocument, Scenario, Step, TableRow, Tag } from "@cucumber/messages";
import type { Path, Problem, Source } from "../../../config/source.ts";
import type { Params } from "../../../domain/index.ts";
import { didYouMean, pathText } from "../../../domain/schemaProblems.ts";
import { sentencesOf } from "../authoring/sentences.ts";
import { placeOf, readSteps, type StepsRead } from "./gherkinSteps.ts";

type Place = { line: number; column: number };

/** A name of a test case is at most this long. */
const longestName = 120;
const longestDescription = 2_000;
/** Some seconds of parsing. */
const mostCharacters = 1_000_000;

/**
 * A feature file as the tests of a YAML file, each scenario a test, that knows where each value stands. Steps are the sentences
 * of the short form, without the keywords. An outline is one test with `for_each` rows; where a placeholder stands outside
 * quotes, each row is a test of its own. `# app: NAME` above the feature names the app.
 */
export function parseFeature(file: string, text: string): Source {
  const reader = new FeatureReader(file);
  reader.read(text);
  const value = { ...(reader.app !== undefined && { app: reader.app }), tests: reader.tests };
  return { value, problems: reader.problems, problem: (path, message) => reader.problem(path, message) };
}

/** What scenarios take from the feature and the rule that they are in. */
type Above = { title: string; description: string; tags: readonly Tag[]; steps: readonly Step[] };

class FeatureReader {
  readonly tests: Params[] = [];
  readonly problems: Problem[] = [];
  app: string | undefined;
  private readonly places = new Map<string, Place>();
  private keywords: readonly string[] = [];

  constructor(private readonly file: string) {}

  read(text: string): void {
    if (text.length > mostCharacters) {
      this.add(
        { line: 1, column: 1 },
        `a feature has at most ${mostCharacters} characters; write several files`,
      );
      return;
    }
    const document = this.parsed(text);
    if (!document) return;
    const { feature } = document;
    if (feature) this.readFeature(document, feature);
    else this.add({ line: 1, column: 1 }, "the file has no Feature");
  }

  private readFeature(document: GherkinDocument, feature: Feature): void {
    this.app = appOf(document, feature);
    this.keywords = stepKeywords(feature.language);
    this.places.set("", placeOf(feature.location));
    const above = { title: feature.name, description: feature.description, tags: feature.tags, steps: [] };
    this.readChildren(feature.children, above);
    if (this.tests.length === 0 && this.problems.length === 0)
      this.add(placeOf(feature.location), "the feature has no scenario");
  }

  /** The place of the value at a path, or of the nearest one above it. */
  problem(path: Path, message: string): Problem {
    for (let length = path.length; length >= 0; length--) {
      const place = this.places.get(pathText(path.slice(0, length)));
      if (place) return { file: this.file, ...place, path: "", message };
    }
    return { file: this.file, line: 1, column: 1, path: "", message };
  }

  private add(place: Place, message: string): void {
    // A step of a background, or of an outline with several tables, is read more than once.
    const isKnown = this.problems.some((one) => one.line === place.line && one.message === message);
    if (isKnown) return;
    this.problems.push({ file: this.file, ...place, path: "", message });
  }

  private parsed(text: string): GherkinDocument | undefined {
    try {
      return new Parser(new AstBuilder(() => ""), new GherkinClassicTokenMatcher()).parse(text);
    } catch (error) {
      const errors = error instanceof Errors.CompositeParserException ? error.errors : [error];
      for (const one of errors) {
        if (!(one instanceof Errors.GherkinException)) throw one;
        this.add(placeOf(one.location), one.message.replace(/^\(\d+:\d+\): /, ""));
      }
      return undefined;
    }
  }

  private readChildren(children: Feature["children"], given: Above): void {
    let above = given;
    for (const { background, scenario, rule } of children) {
      for (const one of [background, scenario]) if (one) this.refuseTypos(one);
      if (background) above = { ...above, steps: [...above.steps, ...background.steps] };
      if (scenario) this.readScenario(scenario, above);
      if (!rule) continue;
      const { name, tags, description } = rule;
      this.readChildren(rule.children, {
        ...{ title: [above.title, name].filter(Boolean).join(": "), tags: [...above.tags, ...tags] },
        ...{ description: paragraphs(above.description, description), steps: above.steps },
      });
    }
  }

  /** Gherkin takes a line whose keyword is misspelt as a part of the description, so that the step would be left out. */
  private refuseTypos({ description, location }: Pick<Scenario, "description" | "location">): void {
    for (const line of description.split("\n")) {
      const [word = ""] = line.trim().split(/[\s:]/, 1);
      const keyword = this.keywords.find((one) => isTypo(word, one));
      if (keyword !== undefined)
        this.add(
          placeOf(location),
          `"${line.trim()}" is read as a description; a step begins with "${keyword} "`,
        );
    }
  }

  private readScenario(scenario: Scenario, above: Above): void {
    const { steps, examples } = scenario;
    const isBare = examples.length === 0 && steps.some(({ text }) => /"<[^<>"]+>"/.test(text));
    if (steps.length === 0) this.add(placeOf(scenario.location), `"${scenario.name}" has no steps`);
    else if (isBare)
      this.add(placeOf(scenario.location), `"${scenario.name}" has placeholders and no Examples`);
    else if (examples.length === 0) this.addTest(scenario, above, { rows: undefined, tags: [], suffix: "" });
    for (const [index, one] of examples.entries()) {
      const suffix = examples.length === 1 ? "" : ` (${one.name || `examples ${index + 1}`})`;
      this.readExamples(one, { scenario, above, suffix });
    }
  }

  private readExamples(examples: Examples, outlined: Outlined): void {
    const { scenario, above, suffix } = outlined;
    const { tableHeader, tableBody, tags } = examples;
    const place = placeOf(examples.location);
    const columns = tableHeader?.cells.map(({ value }) => value) ?? [];
    if (!this.areFit(columns, tableBody, { scenario, place })) return;
    const rows: Rows = { columns, rows: tableBody, place };
    if (isQuoted(scenario.steps, columns)) this.addTest(scenario, above, { rows, tags, suffix });
    else this.addEachRow(rows, outlined, tags);
  }

  private areFit(
    columns: readonly string[],
    rows: readonly TableRow[],
    { scenario, place }: { scenario: Scenario; place: Place },
  ): boolean {
    const before = this.problems.length;
    if (rows.length === 0) this.add(place, `the examples of "${scenario.name}" have no row`);
    const variables = columns.map(variableOf);
    const twice = columns.find((_, index) => variables.indexOf(variables[index] ?? "") < index);
    if (twice !== undefined) this.add(place, `the examples have the column "${twice}" twice`);
    for (const { text, location } of scenario.steps)
      for (const name of placeholdersIn(text)) {
        const near = columns.includes(name) ? "" : didYouMean(name, columns);
        if (near !== "") this.add(placeOf(location), `<${name}> is not a column of the examples${near}`);
      }
    return this.problems.length === before;
  }

  /** A test for each row of an outline. */
  private addEachRow(
    { columns, rows }: Rows,
    { scenario, above, suffix }: Outlined,
    tags: readonly Tag[],
  ): void {
    const names = rows.map((row) => filled(scenario.name, columns, row));
    for (const [index, row] of rows.entries()) {
      const isUnique = names.filter((name) => name === names[index]).length === 1;
      const name = `${names[index]}${isUnique ? "" : ` (row ${index + 1})`}`;
      const fill = (text: string) => filled(text, columns, row);
      this.addTest({ ...scenario, name }, above, { rows: undefined, tags, suffix, fill });
    }
  }

  private addTest(scenario: Scenario, above: Above, { rows, tags, suffix, fill = asItIs }: Outline): void {
    const path = ["tests", this.tests.length];
    const place = placeOf(scenario.location);
    this.places.set(pathText(path), place);
    const before = readSteps(above.steps, asItIs);
    const own = readSteps(scenario.steps, rows ? (text) => placeholders(text, rows.columns) : fill);
    for (const { message, ...at } of [...before.problems, ...own.problems]) this.add(at, message);
    for (const [index, step] of [...before.steps, ...own.steps].entries())
      this.places.set(pathText([...path, "steps", index]), step.place);
    const description = paragraphs(above.description, scenario.description).slice(0, longestDescription);
    this.tests.push({
      name: nameOf(above.title, `${scenario.name || `line ${place.line}`}${suffix}`),
      ...(description !== "" && { description }),
      tags: tagsOf([...above.tags, ...scenario.tags, ...tags]),
      ...(rows && this.rowsOf(rows, path)),
      ...variablesOf(before, own),
      steps: [...before.steps, ...own.steps].map(({ step }) => step),
    });
  }

  /** The inputs of a test and its rows. */
  private rowsOf({ columns, rows, place }: Rows, path: Path): Params {
    this.places.set(pathText([...path, "for_each"]), place);
    const for_each = rows.map(({ location, cells }, index) => {
      this.places.set(pathText([...path, "for_each", index]), placeOf(location));
      return Object.fromEntries(columns.map((column, at) => [variableOf(column), cells[at]?.value ?? ""]));
    });
    return { inputs: columns.map((column) => ({ name: variableOf(column) })), for_each };
  }
}

type Rows = { columns: readonly string[]; rows: readonly TableRow[]; place: Place };
type Outline = {
  rows: Rows | undefined;
  tags: readonly Tag[];
  suffix: string;
  fill?: (text: string) => string;
};
type Outlined = { scenario: Scenario; above: Above; suffix: string };

function stepKeywords(language: string): string[] {
  const { given = [], when = [], then = [], and = [], but = [] } = dialects[language] ?? {};
  return [...given, ...when, ...then, ...and, ...but].map((keyword) => keyword.trim());
}

/** Words that lack a letter of a keyword and are none. */
const ownWords = new Set(["the", "give", "an", "ad", "ten", "hen", "be", "bu"]);
const sorted = (word: string) => [...word].sort().join("");

function isTypo(word: string, keyword: string): boolean {
  const [said, known] = [word.toLowerCase(), keyword.toLowerCase()];
  if (said === known) return true;
  if (said.length < 2 || known.length < 3 || ownWords.has(said)) return false;
  const lacks = [...known].some((_, at) => known.slice(0, at) + known.slice(at + 1) === said);
  return lacks || sorted(said) === sorted(known);
}

const asItIs = (text: string) => text;

function appOf({ comments }: GherkinDocument, { location }: Feature): string | undefined {
  const above = comments.filter((comment) => comment.location.line < location.line);
  return above.map(({ text }) => /^\s*#\s*app\s*:(.+)$/i.exec(text)?.[1]?.trim()).find(Boolean);
}

const paragraphs = (...texts: string[]) =>
  texts
    .map((text) => text.replace(/^[^\S\n]+/gm, "").trim())
    .filter(Boolean)
    .join("\n\n");

/** With the feature and the rule, as scenarios of several features may have one name. */
function nameOf(above: string, scenario: string): string {
  const full = above === "" ? scenario : `${above}: ${scenario}`;
  return full.length <= longestName ? full : scenario;
}

const tagsOf = (tags: readonly Tag[]) => [...new Set(tags.map(({ name }) => name.replace(/^@/, "")))];

function variablesOf(...read: readonly StepsRead[]): Params {
  const variables = Object.assign({}, ...read.map((one) => one.variables));
  return Object.keys(variables).length > 0 ? { variables } : {};
}

const variableOf = (column: string) =>
  column
    .trim()
    .replace(/\W+/g, "_")
    .replace(/^(?=\d)|^$/, "_");

const placeholdersIn = (text: string) => [...text.matchAll(/<([^<>]+)>/g)].flatMap(([, name]) => name ?? []);

const replaced = (text: string, columns: readonly string[], by: (index: number) => string) =>
  text.replace(/<([^<>]+)>/g, (whole, name: string) => {
    const index = columns.indexOf(name);
    return index < 0 ? whole : by(index);
  });

const placeholders = (text: string, columns: readonly string[]) =>
  replaced(text, columns, (index) => `{{${variableOf(columns[index] ?? "")}}}`);

const filled = (text: string, columns: readonly string[], { cells }: TableRow) =>
  replaced(text, columns, (index) => cells[index]?.value ?? "");

/** Whether the placeholders of all steps stand in quotes, where they are values and not words of the sentence. */
const isQuoted = (steps: readonly Step[], columns: readonly string[]) =>
  steps.every(({ text }) =>
    sentencesOf(placeholders(text, columns)).every((one) => !one.text.includes("{{")),
  );
