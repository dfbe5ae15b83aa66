import { chain, type Group } from "../authoring/graph.ts";
import { readActions } from "./lists.ts";
import {
  type Body,
  type Language,
  type Path,
  type Reading,
  type ReadStep,
  readStep,
  type StepProblem,
} from "./readStep.ts";
import { companionKeys } from "./verbs.ts";

type Named = Body & { id: string };
export type Sequence = ReturnType<typeof chain<Named>>;

/** A graph in the form that save_testcase takes, its shape not yet checked. */
export type Compiled = Sequence & {
  /** Where each block was written, by its id with the loops it is in (`s4/s4_1`) and by its place (`blocks[4]`). */
  places: ReadonlyMap<string, Path>;
  problems: readonly StepProblem[];
};

/** The graph of steps. A block that is given no id is `s1`, `s2`; in a loop, or one of several of a sentence, `s2_1`. */
export function compileSteps(
  steps: readonly unknown[],
  language: Language,
  path: Path = ["steps"],
): Compiled {
  const compiler = new Compiler(language);
  const graph = compiler.graph(steps, path, "s");
  const places = new Map<string, Path>();
  compiler.place(graph, { ids: "", json: "" }, places);
  return { ...graph, places, problems: compiler.problems };
}

class Compiler {
  readonly problems: StepProblem[] = [];
  private readonly origins = new Map<object, Path>();
  private readonly bodies = new Map<object, Sequence>();
  private readonly reading: Reading;

  constructor(language: Language) {
    const report = (problem: StepProblem) => void this.problems.push(problem);
    this.reading = { ...language, companions: companionKeys.test, report };
  }

  graph(steps: readonly unknown[], path: Path, prefix: string): Sequence {
    const groups = steps.flatMap((step, index) => {
      const where = [...path, index];
      const read = readStep(step, where, this.reading);
      const made = read ? this.groupsOf(read, where, `${prefix}${index + 1}`) : [];
      for (const { blocks } of made) for (const block of blocks) this.origins.set(block, where);
      return made;
    });
    return chain(groups);
  }

  place({ blocks }: Sequence, at: { ids: string; json: string }, places: Map<string, Path>): void {
    for (const [index, block] of blocks.entries()) {
      const origin = this.origins.get(block);
      const json = `${at.json}blocks[${index}]`;
      if (origin) places.set(`${at.ids}${block.id}`, origin).set(json, origin);
      const body = this.bodies.get(block);
      if (body) this.place(body, { ids: `${at.ids}${block.id}/`, json: `${json}.body.` }, places);
    }
  }

  private groupsOf(read: ReadStep, where: Path, auto: string): Group<Named>[] {
    if ("block" in read)
      return [{ blocks: [{ ...named(read.block, auto), ...this.retries(read.block, where) }] }];
    if ("loop" in read) {
      const body = this.graph(read.steps, [...where, "steps"], `${auto}_`);
      const block = { ...named(read.loop, auto), body };
      this.bodies.set(block, body);
      return [{ blocks: [block] }];
    }
    const isSingle = read.groups.flatMap(({ drafts }) => drafts).length === 1;
    let part = 0;
    return read.groups.map(({ drafts, any }) => ({
      any,
      blocks: drafts.map((draft) => {
        part++;
        return { ...draft, label: read.said, id: isSingle ? auto : `${auto}_${part}` };
      }),
    }));
  }

  /** Retry and failure actions are written as steps, too. */
  private retries(block: Body, where: Path): Record<string, unknown> {
    const lists = ["retry_actions", "failure_actions"].filter((key) => block[key] !== undefined);
    return Object.fromEntries(
      lists.map((key) => [key, readActions(block[key], [...where, key], this.reading)]),
    );
  }
}

const named = (body: Body, auto: string): Named => ({ ...body, id: String(body.id ?? auto) });
