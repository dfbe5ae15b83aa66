import type { ApiOperation } from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import { checksFor, kindOf } from "./cases.ts";
import type { Outcome } from "./findings.ts";
import { requestBlock } from "./graphs.ts";
import { flat, isRequired, lenient } from "./schemas.ts";

import type { Ask } from "./types.ts";
import type { World } from "./world.ts";

/**
 * Smaller requests that may show the same: with the required fields and the varied one alone; of several varied fields each
 * by itself. They are sent as any other, and the smallest that shows the fault is reported.
 */
export async function smallerAsks({ ask }: Outcome, operation: ApiOperation, world: World): Promise<Ask[]> {
  const { block, field, trial } = ask;
  if (block.type !== "api_request" || !isObject(block.body)) return [];
  const good = await world.goodOf(operation, 0);
  const root = good.bodySchema;
  const schema = flat(root, root);
  const body = block.body;
  const varied = field?.startsWith("body.") ? field.split(".")[1] : undefined;
  const least = (of: object, name: string | undefined) =>
    Object.fromEntries(Object.entries(of).filter(([key]) => key === name || isRequired(schema, key)));
  const bodies: { body: object; field: string | undefined; trial: string | undefined }[] = [];
  if (trial === "random") {
    const sound = isObject(good.values.body) ? good.values.body : {};
    for (const name of Object.keys({ ...sound, ...body })) {
      if (JSON.stringify(sound[name]) === JSON.stringify(body[name])) continue;
      const single = { ...sound, [name]: body[name] };
      bodies.push({ body: least(single, name), field: `body.${name}`, trial: "value" });
    }
  } else bodies.push({ body: least(body, varied), field, trial });
  const smaller = bodies.filter((one) => JSON.stringify(one.body).length < JSON.stringify(body).length);
  const rules = await world.rulesOf(operation);
  return Promise.all(
    smaller.map(async (one, at): Promise<Ask> => {
      const id = `small_${at + 1}`;
      const { method, url, headers } = block;
      const isVaried = ask.kind === "invalid" || ask.kind === "probe";
      const kind = isVaried ? kindOf(await world.judge(lenient(root, "request"), one.body), good) : ask.kind;
      const request = { method, url, headers, body: one.body };
      const { block: _, ...said } = ask;
      const planned = {
        ...said,
        label: `${ask.label}, with the least`,
        kind,
        request,
        checks: checksFor(kind, rules),
      };
      const { field: __, trial: ___, ...rest } = planned;
      return {
        ...said,
        ...{ id, label: rest.label, kind, block: requestBlock(id, planned) },
        ...(one.field !== undefined && { field: one.field }),
        ...(one.trial !== undefined && { trial: one.trial }),
      };
    }),
  );
}
