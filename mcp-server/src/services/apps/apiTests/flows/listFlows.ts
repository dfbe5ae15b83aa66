import type { ApiOperation, ApiParameter, FaultId } from "../../../../domain/index.ts";
import { keyOf } from "../../apis/requests/operationRequest.ts";
import { isObject } from "../../apis/spec/reader.ts";
import { conditionOf, type Generated } from "../graphs.ts";
import type { Values } from "../requests.ts";
import { creation, flow, idPathIn, requestIn, setupAsk, setupFor, type World } from "../world.ts";
import { isScalar, itemOf, listPathIn, readerOf } from "./flow.ts";

const pageSize = /^(limit|per_?page|page_?size|size|count|max_?results|\$?top|first)$/i;

/** Filters and page sizes of a list, judged by two entries that were made for it. */
export async function listFlows(list: ApiOperation, world: World): Promise<Generated[]> {
  const creator = world.spec.operations.find(({ path, method }) => method === "POST" && path === list.path);
  const read = creator && readerOf(creator, world);
  const item = read && (await itemOf(read, world));
  const at = listPathIn(world.facts.get(list.id)?.body);
  if (!creator || !item || at === undefined || !world.facts.get(creator.id)?.varied) return [];
  const { asks: parents, parameters } = await setupFor(list, { variant: 2 }, world);
  const idPath = idPathIn(world.facts.get(creator.id)?.body, "id");
  const idName = idPath?.split(".").at(-1);
  if (idPath === undefined || idName === undefined) return [];
  const bodies = await Promise.all(
    [8, 9].map(async (variant) => (await world.goodOf(creator, variant)).values.body),
  );
  const [one = {}, other = {}] = bodies.map((body) => (isObject(body) ? body : {}));
  const make = (id: string, variant: number) => creation(creator, { id, variant, parameters }, world);
  const all = await world.goodOf(list, 0);
  const asking = (id: string, label: string, values: Values) =>
    setupAsk(id, label, list, requestIn(list, { values, parameters }, world), [{ status: "2xx" }]);
  const has = (ask: string, made: string) =>
    `${ask}.output.body${at}.exists(i, has(i.${idName}) && i.${idName} == ${made}.output.${idPath})`;
  const before = [
    ...parents,
    await make("one", 8),
    await make("other", 9),
    asking("whole", "the whole list", all.values),
    conditionOf("proof", `${has("whole", "one")} && ${has("whole", "other")}`, {
      ...{ label: "both are in the list", operation: list.id },
    }),
  ];
  const by = (parameter: ApiParameter, value: unknown, verdict: string, fault: FaultId): Generated => {
    const { name } = parameter;
    const label =
      fault === "F902"
        ? `at most ${value} with ${name}=${value}`
        : `all entries with ${name} ${value}, and no others`;
    const key = keyOf(parameter);
    const values = { ...all.values, parameters: { ...all.values.parameters, [key]: value } };
    const right = conditionOf("right", verdict, { label, operation: list.id, fault, field: key });
    return flow(list, `by ${name}`, [...before, asking("part", `by ${name}`, values), right], world);
  };
  return list.parameters.flatMap((parameter): Generated[] => {
    const { name } = parameter;
    if (parameter.in !== "query") return [];
    if (pageSize.test(name)) return [by(parameter, 1, `size(part.output.body${at}) <= 1`, "F902")];
    const isFilter = item.echo.fields.includes(name) && isScalar(one[name]) && one[name] !== other[name];
    return isFilter
      ? [by(parameter, one[name], `${has("part", "one")} && !${has("part", "other")}`, "F901")]
      : [];
  });
}
