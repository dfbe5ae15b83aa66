import { isDeepStrictEqual } from "node:util";
import type { ApiOperation } from "../../../../domain/index.ts";
import { isObject } from "../../apis/spec/reader.ts";
import { askOf, type Generated, sequence } from "../graphs.ts";
import { notSuccess } from "../replyChecks.ts";
import { variantOf, type World } from "../world.ts";
import { done, headOf, itemOf, requestIn, setupAsk, showing } from "./flow.ts";

export async function changed(
  operation: ApiOperation,
  read: ApiOperation,
  world: World,
): Promise<Generated | undefined> {
  const item = await itemOf(read, world);
  if (!item) return undefined;
  const { setup, echo, body } = item;
  const { parameters } = setup;
  const { values } = await world.goodOf(operation, variantOf(item.creator, 2, world) + 3);
  const next = isObject(values.body) ? values.body : {};
  const isChanged = (name: string) => next[name] !== undefined && !isDeepStrictEqual(next[name], body[name]);
  const fields = echo.fields.filter(isChanged);
  if (fields.length === 0) return undefined;
  const reading = requestIn(read, { parameters }, world);
  const asks = [
    ...setup.asks,
    setupAsk("before", "read what was created", read, reading, [
      { status: "2xx" },
      ...showing(body, fields, echo.at),
    ]),
    setupAsk("change", "change it", operation, requestIn(operation, { values, parameters }, world), [done]),
    askOf(
      {
        ...{
          label: "read it again",
          kind: "setup",
          operation: operation.id,
          fault: "F900",
          request: reading,
        },
        checks: [{ status: "2xx" }, ...showing(next, fields, echo.at)],
      },
      "after",
    ),
  ];
  return sequence(headOf(`${operation.id}: change, then read again`, world), operation.id, asks);
}

export async function removed(
  operation: ApiOperation,
  read: ApiOperation,
  world: World,
): Promise<Generated | undefined> {
  const item = await itemOf(read, world);
  // A mock shows the same for every id: what is read before must be of this creation alone.
  if (!item || item.own.length === 0) return undefined;
  const { setup, body, echo, own } = item;
  const { parameters } = setup;
  const reading = requestIn(read, { parameters }, world);
  const { values } = await world.goodOf(operation, 0);
  const asks = [
    ...setup.asks,
    setupAsk("before", "read what was created", read, reading, [
      { status: "2xx" },
      ...showing(body, own, echo.at),
    ]),
    setupAsk("remove", "delete it", operation, requestIn(operation, { values, parameters }, world), [done]),
    askOf(
      {
        label: "read it again",
        kind: "refused",
        operation: operation.id,
        fault: "F103",
        request: reading,
        checks: [{ status: notSuccess }],
      },
      "after",
    ),
  ];
  return sequence(headOf(`${operation.id}: delete, then read again`, world), operation.id, asks);
}
