import { isDeepStrictEqual } from "node:util";
import { actionSchema, type Block, blockSchema, type Graph } from "../../../domain/index.ts";
import { compileSteps } from "./compile.ts";
import { writeActions } from "./lists.ts";
import { type Body, draftsOf, type Language, readQuietly } from "./readStep.ts";
import { withoutDefaults, withoutEmpty, writeBody } from "./writeStep.ts";

type Step = unknown;

/** Under these keys an id is itself; anywhere else it is a reference. */
const idKeys = new Set(["id", "from", "to"]);

/** The steps of a graph that is one sequence. Compiled again they give an equal graph. `others` may name a block's output. */
export function stepsOf(graph: Graph, language: Language, others: unknown = {}): Step[] | undefined {
  const texts = JSON.stringify([graph, others], (key, value) =>
    idKeys.has(key) && isAuto(value) ? "" : value,
  );
  const isFree = (id: string) => isAuto(id) && !new RegExp(`\\b${id}\\b`).test(texts);
  const steps = sequenceOf(graph, "s", { language, isFree });
  if (!steps) return undefined;
  const compiled = compileSteps(steps, language);
  if (compiled.problems.length > 0) return undefined;
  const back = parsedGraph(compiled);
  return back && isUnique(back) && isSame(graph, back, isFree) ? steps : undefined;
}

type Writing = { language: Language; isFree(id: string): boolean };

/** An id of the form that compiling gives. */
const isAuto = (id: unknown): boolean => typeof id === "string" && /^s\d+(?:_\d+)*$/.test(id);

function sequenceOf(graph: Graph, prefix: string, writing: Writing): Step[] | undefined {
  let left = inRow(graph);
  if (!left) return undefined;
  const steps: Step[] = [];
  while (left.length > 0) {
    const auto = `${prefix}${steps.length + 1}`;
    const said = saidBy(left, auto, writing);
    const step: Step = said?.step ?? stepOf(left, auto, writing);
    if (step === undefined) return undefined;
    steps.push(step);
    left = left.slice(said?.length ?? 1);
  }
  return steps;
}

/** The blocks between start and success in the order in which they run, an alternative after what it replaces. */
function inRow({ blocks, edges }: Graph): Block[] | undefined {
  const to = new Map(edges.map((edge) => [`${edge.from} ${edge.on}`, edge.to]));
  const row: Block[] = [];
  let id = blocks.find(({ type }) => type === "start")?.id;
  while (id !== undefined && row.length < blocks.length) {
    const block = blocks.find((one) => one.id === id);
    if (!block) return undefined;
    row.push(block);
    id = to.get(`${id} failure`) ?? to.get(`${id} success`);
  }
  const [start, ...rest] = row;
  const end = rest.pop();
  const markers = [start, end];
  const isPlain = markers.every((marker) => marker !== undefined && marker.label === undefined);
  const isWhole = row.length === blocks.length && end?.type === "success";
  const isMarker = ({ type }: Block) => type === "start" || type === "success" || type === "failure";
  return isPlain && isWhole && !rest.some(isMarker) ? rest : undefined;
}

/** The words that are the label of the next blocks, where they mean exactly these. */
function saidBy(
  blocks: readonly Block[],
  auto: string,
  { language, isFree }: Writing,
): { step: Step; length: number } | undefined {
  const label = blocks[0]?.label;
  if (label === undefined) return undefined;
  const read = readQuietly(label, language);
  if (!read || !("said" in read) || read.said !== label) return undefined;
  const drafts = draftsOf(read);
  const isMeant = drafts.every((draft, at) => {
    const block = blocks[at];
    if (!block || block.label !== label) return false;
    const { id, label: _, ...body } = withoutDefaults(block);
    const own = drafts.length > 1 ? `${auto}_${at + 1}` : auto;
    return (block.id === own || isFree(block.id)) && isDeepStrictEqual(body, withoutEmpty(draft));
  });
  return isMeant ? { step: label, length: drafts.length } : undefined;
}

function stepOf([block]: readonly Block[], auto: string, writing: Writing): Step | undefined {
  if (!block) return undefined;
  const { id, ...body } = withoutDefaults(block);
  const named: Body = { ...body, type: block.type, ...(id !== auto && !writing.isFree(block.id) && { id }) };
  if (block.type === "loop") return loopOf(block, named, auto, writing);
  const lists = ["retry_actions", "failure_actions"].filter((key) => named[key] !== undefined);
  const written = lists.map((key) => {
    const actions = actionSchema.array().safeParse(named[key]).data;
    return [key, actions && writeActions(actions, writing.language)] as const;
  });
  if (written.some(([, steps]) => steps === undefined)) return undefined;
  return writeBody({ ...named, ...Object.fromEntries(written) }, writing.language);
}

function loopOf(
  block: Extract<Block, { type: "loop" }>,
  { type: _, body: __, iterations, while: condition, ...companions }: Body,
  auto: string,
  writing: Writing,
): Step | undefined {
  const steps = sequenceOf(block.body, `${auto}_`, writing);
  const rounds = iterations === undefined ? { while: condition } : { repeat: iterations };
  return steps && { ...rounds, ...companions, steps };
}

function parsedGraph({ blocks, edges }: ReturnType<typeof compileSteps>): Graph | undefined {
  const parsed = blockSchema.array().safeParse(blocks).data;
  return parsed && { blocks: parsed, edges: edges.map((edge) => ({ on: "success", ...edge })) };
}

const idsOf = ({ blocks }: Graph): string[] =>
  blocks.flatMap((block) => [
    ...(block.type === "start" || block.type === "success" ? [] : [block.id]),
    ...(block.type === "loop" ? idsOf(block.body) : []),
  ]);

const isUnique = (graph: Graph) => new Set(idsOf(graph)).size === idsOf(graph).length;

/** Whether two graphs of one sequence each do the same in the same order. */
function isSame(graph: Graph, back: Graph, isFree: Writing["isFree"]): boolean {
  const [row = [], backRow = []] = [inRow(graph), inRow(back)];
  return (
    row.length === backRow.length &&
    isDeepStrictEqual(linksOf(graph, row), linksOf(back, backRow)) &&
    row.every((block, at) => isSameBlock(block, backRow[at] ?? block, isFree))
  );
}

function isSameBlock(block: Block, back: Block, isFree: Writing["isFree"]): boolean {
  if (block.id !== back.id && !isFree(block.id)) return false;
  if (block.label !== undefined && block.label !== back.label) return false;
  if (block.type === "loop" && back.type === "loop" && !isSame(block.body, back.body, isFree)) return false;
  const [content, backContent] = [block, back].map((one) => {
    const { id: _, label: __, body: ___, ...rest } = withoutDefaults(one);
    return rest;
  });
  return isDeepStrictEqual(content, backContent);
}

function linksOf({ edges, blocks }: Graph, row: readonly Block[]): string[] {
  const places = new Map(row.map(({ id }, at) => [id, at]));
  const placeOf = (id: string) => places.get(id) ?? blocks.find((block) => block.id === id)?.type;
  return edges.map(({ from, to, on }) => `${placeOf(from)} ${on} ${placeOf(to)}`).sort();
}
