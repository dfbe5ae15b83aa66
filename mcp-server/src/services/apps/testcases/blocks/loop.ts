import type { Graph } from "../../../../domain/index.ts";
import type { FailureClass } from "../../../records/verdicts.ts";
import { holds } from "../../../values/expressions.ts";
import type { BlockEnd, BlockOf, Frame, GraphEnd, PreparedBlock } from "./block.ts";

const maxRounds = 1_000;

type FailedRound = { index: number; code: string; message: string; kind: FailureClass };

/** `break` ends with the first failed round; `continue` makes all rounds and fails if any did. `broken` always ends it. */
export function loopBlock(
  block: BlockOf<"loop">,
  frame: Frame,
  runGraph: (graph: Graph, frame: Frame) => Promise<GraphEnd>,
): PreparedBlock {
  return {
    input: { iterations: block.iterations, while: block.while, on_failure: block.on_failure },
    title: block.while ? `while ${block.while}`.slice(0, 120) : `${block.iterations} times`,
    async run(): Promise<BlockEnd> {
      const outer = frame.scope.loop;
      try {
        return await rounds(block, frame, runGraph);
      } finally {
        frame.scope.loop = outer;
      }
    },
  };
}

async function rounds(
  block: BlockOf<"loop">,
  frame: Frame,
  runGraph: (graph: Graph, frame: Frame) => Promise<GraphEnd>,
): Promise<BlockEnd> {
  const failed: FailedRound[] = [];
  for (let index = 0; index < maxRounds; index++) {
    if (!(await goesOn(block, frame.scope, index))) return loopEnd(index, failed);
    frame.session.run.signal.throwIfAborted();
    const end = await runGraph(block.body, { ...frame, prefix: `${frame.prefix}${block.id}[${index}]/` });
    if (end.ok) continue;
    const { code, message, kind } = end;
    failed.push({ index, code, message, kind });
    if (kind === "broken" || block.on_failure === "break") return loopEnd(index + 1, failed);
  }
  return (await goesOn(block, frame.scope, maxRounds)) ? endless(maxRounds) : loopEnd(maxRounds, failed);
}

/** Whether there is another round. Sets `loop.index` first. */
async function goesOn(block: BlockOf<"loop">, scope: Frame["scope"], index: number): Promise<boolean> {
  scope.loop = { index };
  return block.while === undefined ? index < (block.iterations ?? 0) : holds(block.while, scope);
}

function loopEnd(iterations: number, failed: readonly FailedRound[]): BlockEnd {
  const output = { iterations, failed: failed.map(({ index, code, message }) => ({ index, code, message })) };
  const [first] = failed;
  if (!first) return { ok: true, output };
  const kinds: readonly FailureClass[] = ["broken", "environment", "behaviour"];
  const worst = failed.find(
    ({ kind }) => kind === kinds.find((one) => failed.some((round) => round.kind === one)),
  );
  const { code, kind, message: why } = worst ?? first;
  const which = failed.map(({ index }) => index).join(", ");
  const message = `${failed.length} of ${iterations} rounds failed (index ${which}): ${why}`;
  return { ok: false, output, code, message, kind };
}

function endless(iterations: number): BlockEnd {
  return {
    ok: false,
    output: { iterations, failed: [] },
    code: "MAX_RETRIES_EXCEEDED",
    message: `the condition still held after ${maxRounds} rounds`,
    kind: "environment",
  };
}
