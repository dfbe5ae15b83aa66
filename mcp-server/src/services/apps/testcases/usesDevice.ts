import type { Block, TestCaseInput } from "../../../domain/index.ts";
import type { OpenDevice } from "../../ports.ts";
import { allBlocks } from "./graph.ts";
import { maxCallDepth, type ValidationPorts } from "./validate.ts";

const driving: ReadonlySet<string> = new Set(["navigation", "action", "verification", "script"]);

/** Whether a run needs a device, in its own blocks, those it calls, or its set-up. */
export async function usesDevice(
  testcase: TestCaseInput,
  ports: Pick<ValidationPorts, "findTestcase">,
  depth = 0,
): Promise<boolean> {
  if (testcase.storage_state !== undefined) return true;
  const blocks = allBlocks(testcase).map(({ block }) => block);
  if (blocks.some(({ type }) => driving.has(type))) return true;
  const names = new Set(blocks.flatMap((block) => (block.type === "call_testcase" ? [block.testcase] : [])));
  if (testcase.setup !== undefined) names.add(testcase.setup);
  // Deeper calls are refused when the test case is judged.
  if (depth > maxCallDepth) return false;
  for (const name of names) {
    const called = await ports.findTestcase(name);
    if (called && (await usesDevice(called, ports, depth + 1))) return true;
  }
  return false;
}

/** Opens the controllers that test cases use. Returns whether any was closed. The run reports what fails. */
export async function openUsed(
  { controllers, isOpen, untilOpen }: OpenDevice,
  testcases: readonly TestCaseInput[],
  signal: AbortSignal,
): Promise<boolean> {
  const used = new Set(
    testcases.flatMap((testcase) => allBlocks(testcase)).flatMap(({ block }) => commandNames(block)),
  );
  const late = controllers.filter(
    (one) => !isOpen(one) && [...one.commands, ...one.checks].some(({ name }) => used.has(name)),
  );
  await Promise.all(late.map((controller) => untilOpen(controller, signal).catch(() => undefined)));
  signal.throwIfAborted();
  return late.length > 0;
}

function commandNames(block: Block): string[] {
  if (block.type === "verification") return [block.command];
  if (block.type !== "action") return [];
  return [block, ...block.retry_actions, ...block.failure_actions].map(({ command }) => command);
}
