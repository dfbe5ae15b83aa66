import type { ApiOperation } from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import { checksFor, kindOf } from "./cases.ts";
import type { Outcome } from "./findings.ts";
import { askOf } from "./graphs.ts";
import { flat, isRequired, lenient } from "./schemas.ts";
import type { Ask } from "./types.ts";
import type { World } from "./world.ts";

/**
 * A smaller request that may show the same: with the required fields and the varied one alone. It is sent as any other, and
 * the smallest that shows the fault is reported.
 */
export async function smallerAsk(
  { ask }: Outcome,
  operation: ApiOperation,
  world: World,
): Promise<Ask | undefined> {
  const { block, field } = ask;
  if (block.type !== "api_request" || !isObject(block.body)) return undefined;
  const good = await world.goodOf(operation, 0);
  const root = good.bodySchema;
  const schema = flat(root, root);
  const varied = field?.startsWith("body.") ? field.split(".")[1] : undefined;
  const all = Object.entries(block.body);
  const least = all.filter(([name]) => name === varied || isRequired(schema, name));
  if (least.length === all.length) return undefined;
  const body = Object.fromEntries(least);
  const isVaried = ask.kind === "invalid" || ask.kind === "probe";
  const kind = isVaried ? kindOf(await world.judge(lenient(root, "request"), body), good) : ask.kind;
  const { method, url, headers } = block;
  const checks = checksFor(kind, await world.rulesOf(operation));
  const said = { ...ask, label: `${ask.label}, with the least`, kind };
  return askOf({ ...said, request: { method, url, headers, body }, checks }, "small");
}
