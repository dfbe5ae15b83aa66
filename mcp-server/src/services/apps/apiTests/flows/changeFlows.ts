import { isDeepStrictEqual } from "node:util";
import type { ApiOperation } from "../../../../domain/index.ts";
import { isObject } from "../../apis/spec/reader.ts";
import { askOf, type Generated } from "../graphs.ts";
import { notSuccess } from "../replyChecks.ts";
import type { Values } from "../requests.ts";
import type { Planned } from "../types.ts";
import { flow, requestIn, setupAsk, variantOf, type World } from "../world.ts";
import { done, type Item, itemOf, showing } from "./flow.ts";

/** Changes something, PUT twice, and reads it again. */
export async function changed(
  operation: ApiOperation,
  read: ApiOperation,
  world: World,
): Promise<Generated | undefined> {
  const item = await itemOf(read, world);
  if (!item) return undefined;
  const { echo, body } = item;
  const { values } = await world.goodOf(operation, variantOf(item.creator, 2, world) + 3);
  const next = isObject(values.body) ? values.body : {};
  const isChanged = (name: string) => next[name] !== undefined && !isDeepStrictEqual(next[name], body[name]);
  const fields = echo.fields.filter(isChanged);
  if (fields.length === 0) return undefined;
  const checks = [{ status: "2xx" }, ...showing(next, fields, echo.at)];
  const after = { kind: "setup", fault: "F900", checks } as const;
  return readAround(operation, read, { item, fields, values, what: "change", after }, world);
}

export async function removed(
  operation: ApiOperation,
  read: ApiOperation,
  world: World,
): Promise<Generated | undefined> {
  const item = await itemOf(read, world);
  // A mock shows the same for every id: what is read before must be of this creation alone.
  if (!item || item.own.length === 0) return undefined;
  const { values } = await world.goodOf(operation, 0);
  const after = { kind: "refused", fault: "F103", checks: [{ status: notSuccess }] } as const;
  return readAround(operation, read, { item, fields: item.own, values, what: "delete", after }, world);
}

type Around = {
  item: Item;
  /** What the first read must show as it was created. */
  fields: readonly string[];
  values: Values;
  what: string;
  after: Pick<Planned, "kind" | "fault"> & { checks: Readonly<Planned["checks"]> };
};

function readAround(
  operation: ApiOperation,
  read: ApiOperation,
  { item, fields, values, what, after }: Around,
  world: World,
): Generated {
  const { setup, body, echo } = item;
  const { parameters } = setup;
  const request = requestIn(read, { parameters }, world);
  const change = requestIn(operation, { values, parameters }, world);
  const shown = [{ status: "2xx" }, ...showing(body, fields, echo.at)];
  const again = setupAsk("again", `${what} it again`, operation, change, [{ status: ["2xx", "4xx"] }]);
  const asks = [
    ...setup.asks,
    setupAsk("before", "read what was created", read, request, shown),
    setupAsk("change", `${what} it`, operation, change, [done]),
    ...(operation.method === "PUT" ? [again] : []),
    askOf(
      { ...after, checks: [...after.checks], label: "read it again", operation: operation.id, request },
      "after",
    ),
  ];
  return flow(operation, `${what}, then read again`, asks, world);
}
