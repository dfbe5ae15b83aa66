import type { TestCaseInput } from "../../../domain/index.ts";
import { allBlocks } from "./graph.ts";
import { maxCallDepth, type ValidationPorts } from "./validate.ts";

const driving: ReadonlySet<string> = new Set(["navigation", "action", "verification", "script"]);

/** Whether a run needs a device: for a block of its own, of a test case that it calls, or of its set-up. */
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
