import { AstBuilder, dialects, Errors, GherkinClassicTokenMatcher, Parser } from "@cucumber/gherkin";
import type { Examples, Feature, GherkinDocument, Scenario, Step, TableRow, Tag } from "@cucumber/messages";
import type { Path, Problem, Source } from "../../../config/source.ts";
import type { Params } from "../../../domain/index.ts";
import { didYouMean, pathText } from "../../../domain/schemaProblems.ts";
import { inQuotes, placeOf, readSteps } from "./gherkinSteps.ts";

type Place = { line: number; column: number };

/** A name of a test case is at most this long. */
const longestName = 120;
const longestDescription = 2_000;
/** Some seconds of parsing. */
const mostCharacters = 1_000_000;
const mostTests = 2_000;

/**
 * A feature file as the tests of a YAML file, each scenario a test, that knows where each value stands. Steps are the sentences
 * of the short form, without the keywords. Each row of an outline is a test of its own. `# app: NAME` above the feature names the
 * app.
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
    else if (examples.length === 0) this.addTest(scenario, above);
    for (const [index, one] of examples.entries()) {
      const suffix = examples.length === 1 ? "" : ` (${one.name || `examples ${index + 1}`})`;
      this.readExamples(one, scenario, above, suffix);
    }
  }

  /** A test for each row of an outline. */
  private readExamples(examples: Examples, scenario: Scenario, above: Above, suffix: string): void {
    const { tableHeader, tableBody: rows, tags } = examples;
    const columns = tableHeader?.cells.map(({ value }) => value) ?? [];
    if (!this.areFit(columns, rows, scenario, placeOf(examples.location))) return;
    const names = rows.map((row) => filled(scenario.name, columns, row));
    for (const [index, row] of rows.entries()) {
      const isUnique = names.filter((name) => name === names[index]).length === 1;
      const name = `${names[index]}${isUnique ? "" : ` (row ${index + 1})`}${suffix}`;
      const test = { ...scenario, name, location: row.location, tags: [...scenario.tags, ...tags] };
      this.addTest(test, above, (text) => filled(text, columns, row));
    }
  }

  private areFit(
    columns: readonly string[],
    rows: readonly TableRow[],
    scenario: Scenario,
    place: Place,
  ): boolean {
    const before = this.problems.length;
    if (rows.length === 0) this.add(place, `the examples of "${scenario.name}" have no row`);
    if (this.tests.length + rows.length > mostTests)
      this.add(
        place,
        `a feature has at most ${mostTests} tests, a row of an outline each; write several files`,
      );
    const twice = columns.find((name, index) => columns.indexOf(name) < index);
    if (twice !== undefined) this.add(place, `the examples have the column "${twice}" twice`);
    for (const { text, location } of scenario.steps)
      for (const [, name = ""] of text.matchAll(/<([^<>]+)>/g)) {
        const near = columns.includes(name) ? "" : didYouMean(name, columns);
        if (near !== "") this.add(placeOf(location), `<${name}> is not a column of the examples${near}`);
      }
    return this.problems.length === before;
  }

  private addTest(scenario: Scenario, above: Above, fill = (text: string) => text): void {
    const path = ["tests", this.tests.length];
    const place = placeOf(scenario.location);
    this.places.set(pathText(path), place);
    const before = readSteps(above.steps, (text) => text);
    const own = readSteps(scenario.steps, fill);
    for (const { message, ...at } of [...before.problems, ...own.problems]) this.add(at, message);
    const steps = [...before.steps, ...own.steps];
    for (const [index, step] of steps.entries())
      this.places.set(pathText([...path, "steps", index]), step.place);
    const description = paragraphs(above.description, scenario.description).slice(0, longestDescription);
    const variables = { ...before.variables, ...own.variables };
    this.tests.push({
      name: nameOf(above.title, scenario.name || `line ${place.line}`),
      ...(description !== "" && { description }),
      tags: tagsOf([...above.tags, ...scenario.tags]),
      ...(Object.keys(variables).length > 0 && { variables }),
      steps: steps.map(({ step }) => step),
    });
  }
}

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

/** The values of a row in place of `<column>`; `"<column>"` takes other quotes where the value has such. */
const filled = (text: string, columns: readonly string[], { cells }: TableRow) =>
  text.replace(/"<([^<>]+)>"|<([^<>]+)>/g, (whole, quoted?: string, bare?: string) => {
    const value = cells[columns.indexOf(quoted ?? bare ?? "")]?.value;
    if (value === undefined) return whole;
    return quoted === undefined ? value : inQuotes(value);
  });
