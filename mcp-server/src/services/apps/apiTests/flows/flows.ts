import type { ApiOperation } from "../../../../domain/index.ts";
import type { Generated } from "../graphs.ts";
import type { World } from "../world.ts";
import { changed, removed } from "./changeFlows.ts";
import { failedCreation, massAssignment, repeated } from "./creationFlows.ts";
import { itemOf, itemReader, readerOf } from "./flow.ts";
import { listFlows } from "./listFlows.ts";
import { otherUser } from "./userFlows.ts";

/** Requests that depend on each other: what one did is looked at by the next. */
export async function flowsOf(operation: ApiOperation, world: World): Promise<Generated[]> {
  if (!world.facts.get(operation.id)?.reached) return [];
  const flows: (Generated | undefined)[] = [];
  const read = itemReader(operation, world);
  if (read && ["PUT", "PATCH"].includes(operation.method)) flows.push(await changed(operation, read, world));
  if (read && operation.method === "DELETE") flows.push(await removed(operation, read, world));
  if (operation.method === "POST") flows.push(...(await creationFlows(operation, world)));
  if (operation.method === "GET") flows.push(...(await listFlows(operation, world)));
  return flows.filter((flow) => flow !== undefined);
}

async function creationFlows(creator: ApiOperation, world: World): Promise<(Generated | undefined)[]> {
  const read = readerOf(creator, world);
  const item = read && (await itemOf(read, world));
  if (!read || !item) return [await repeated(creator, world)];
  return [
    await failedCreation(creator, item, world),
    await massAssignment(creator, read, item, world),
    await repeated(creator, world),
    await otherUser(creator, read, world),
  ];
}
