import { isDeepStrictEqual } from "node:util";
import { type Graph, stepsTestSchema, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import { schemaProblems } from "../../../domain/schemaProblems.ts";
import { compileSteps } from "./compile.ts";
import { stepsOf } from "./decompile.ts";
import type { Language, Path, StepProblem } from "./readStep.ts";
import { isFields } from "./verbs.ts";
import { withoutDefaults } from "./writeStep.ts";

/** A test as blocks and edges, its shape not yet checked; `places` say where each block was written. */
export type TestRead = {
  value: unknown;
  places: ReadonlyMap<string, Path>;
  problems: readonly StepProblem[];
};

/** The app that a test names, in either form; undefined where it names none. */
export function appNameOf(given: unknown): string | undefined {
  const name = isFields(given) ? (given.userinterface_name ?? given.app) : undefined;
  return typeof name === "string" ? name : undefined;
}

/** A test in either form. `app` is short for `userinterface_name`. */
export function readTest(given: unknown, language: Language): TestRead {
  if (!isFields(given)) return { value: given, places: new Map(), problems: [] };
  const { app, steps, ...rest } = given;
  const value = app === undefined ? rest : { userinterface_name: app, ...rest };
  if (steps === undefined && "blocks" in given)
    return { value, places: new Map(placesOf(given.blocks, [])), problems: [] };
  const head = stepsTestSchema.safeParse(given);
  const wrong = head.success ? [] : schemaProblems(head.error.issues, stepsTestSchema);
  const { places, problems, ...graph } = compileSteps(Array.isArray(steps) ? steps : [], language);
  // Problems of steps are reported by readStep.
  const ofHead = wrong.filter(({ path }) => path[0] !== "steps" || path.length === 1);
  return { value: { ...value, ...graph }, places, problems: [...ofHead, ...problems] };
}

/** Blocks by their ids, with those of the loops that they are in. */
function placesOf(blocks: unknown, path: Path, above = ""): [string, Path][] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown, index): [string, Path][] => {
    if (!isFields(block) || typeof block.id !== "string") return [];
    const at = [...path, "blocks", index];
    const body = isFields(block.body) ? block.body.blocks : undefined;
    return [[`${above}${block.id}`, at], ...placesOf(body, [...at, "body"], `${above}${block.id}/`)];
  });
}

/** The shortest form of a test: steps where it is a sequence, nothing that is a default. */
export function writeTest(testcase: TestCaseInput, language: Language): Record<string, unknown> {
  const { blocks, edges, userinterface_name: app, name, description, tags, ...head } = testcase;
  const { outputs, for_each } = head;
  const steps = stepsOf({ blocks, edges }, language, { outputs, for_each });
  const form = { name, description, ...(app !== undefined && { app }), tags, ...head };
  return {
    ...Object.fromEntries(Object.entries(form).filter(([key, value]) => !isDefault(key, value))),
    ...(steps ? { steps } : briefGraph({ blocks, edges })),
  };
}

const defaults = testcaseSchema.parse({ name: "x", blocks: [{ id: "start", type: "start" }], edges: [] });

const isDefault = (key: string, value: unknown) =>
  value === undefined || isDeepStrictEqual(new Map(Object.entries(defaults)).get(key), value);

const briefGraph = ({ blocks, edges }: Graph): Record<string, unknown> => ({
  blocks: blocks.map((block) =>
    block.type === "loop"
      ? { ...withoutDefaults(block), body: briefGraph(block.body) }
      : withoutDefaults(block),
  ),
  edges: edges.map(({ on, ...edge }) => (on === "success" ? edge : { ...edge, on })),
});
