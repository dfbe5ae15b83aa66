import type { Block, Graph } from "../../../domain/index.ts";
import { apiRequestBlock } from "./blocks/apiRequest.ts";
import type { BlockEnd, Frame, GraphEnd, PreparedBlock } from "./blocks/block.ts";
import { callBlock } from "./blocks/call.ts";
import { conditionBlock, setBlock, sleepBlock, timeBlock } from "./blocks/data.ts";
import { actionBlock, navigationBlock, scriptBlock, verificationBlock } from "./blocks/device.ts";
import { loopBlock } from "./blocks/loop.ts";
import { recordBlock } from "./recorder.ts";

/** Throws only the run's own abort reason and storage failures. */
export async function runGraph(graph: Graph, frame: Frame): Promise<GraphEnd> {
  let block = graph.blocks.find(({ type }) => type === "start");
  // A validated graph has no cycle, so no walk is longer than its blocks.
  for (let walked = 0; block && walked <= graph.blocks.length; walked++) {
    if (block.type === "success") return { ok: true };
    if (block.type === "failure") return failureReached(block, frame);
    const end: BlockEnd =
      block.type === "start" ? { ok: true, output: null } : await runBlock(block, graph, frame);
    const next = nextOf(graph, block, end);
    if (!next && !end.ok) return { ok: false, kind: end.kind, code: end.code, message: end.message };
    block = next;
  }
  return { ok: false, kind: "broken", code: "TESTCASE_INVALID", message: "The graph leads nowhere." };
}

function nextOf(graph: Graph, block: Block, end: BlockEnd): Block | undefined {
  if (!end.ok && end.kind === "broken") return undefined;
  const on = end.ok ? "success" : "failure";
  const edge = graph.edges.find(({ from, on: when }) => from === block.id && when === on);
  return edge && graph.blocks.find(({ id }) => id === edge.to);
}

function failureReached(block: Block, { session }: Frame): GraphEnd {
  const { lastFailure, lastFailureClass } = session;
  const name = block.label ?? block.id;
  const why = lastFailure ? ` after ${lastFailure.label}: ${lastFailure.message}` : "";
  const code = lastFailure?.code ?? "VERIFICATION_FAILED";
  return {
    ok: false,
    kind: lastFailureClass ?? "behaviour",
    code,
    message: `The test ended at "${name}"${why}.`,
  };
}

async function runBlock(block: Block, graph: Graph, frame: Frame): Promise<BlockEnd> {
  const caught = graph.edges.some(({ from, on }) => from === block.id && on === "failure");
  const isLast = frame.prefix === "" && typeAfter(graph, block) === "success";
  const end = await recordBlock(block, frame, {
    caught,
    isLast,
    prepare: () => prepare(block, graph, frame),
  });
  frame.scope[block.id] = { output: end.output };
  return end;
}

function typeAfter(graph: Graph, { id }: Block): Block["type"] | undefined {
  const next = graph.edges.find(({ from, on }) => from === id && on === "success")?.to;
  return graph.blocks.find((block) => block.id === next)?.type;
}

const isChecked = (graph: Graph, block: Block): boolean => typeAfter(graph, block) === "verification";

function prepare(block: Block, graph: Graph, frame: Frame): PreparedBlock {
  switch (block.type) {
    case "navigation":
      return navigationBlock(block, frame, isChecked(graph, block));
    case "action":
      return actionBlock(block, frame, isChecked(graph, block));
    case "verification":
      return verificationBlock(block, frame);
    case "condition":
      return conditionBlock(block, frame);
    case "set":
      return setBlock(block, frame);
    case "sleep":
      return sleepBlock(block, frame);
    case "get_current_time":
      return timeBlock(block, frame);
    case "api_request":
      return apiRequestBlock(block, frame);
    case "loop":
      return loopBlock(block, frame, runGraph);
    case "script":
      return scriptBlock(block, frame);
    case "call_testcase":
      return callBlock(block, frame, runGraph);
    default:
      throw new Error(`A ${block.type} block is a place, not a thing to run.`);
  }
}
