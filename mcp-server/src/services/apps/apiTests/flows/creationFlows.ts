import type { ApiOperation } from "../../../../domain/index.ts";
import { isJson } from "../../apis/requests/media.ts";
import { keyOf } from "../../apis/requests/operationRequest.ts";
import { isObject } from "../../apis/spec/reader.ts";
import { wholeSchema } from "../../apis/spec/wholeSchema.ts";
import { withValue } from "../cases.ts";
import { conditionOf, type Generated } from "../graphs.ts";
import { makeValue } from "../makeValue.ts";
import { fill } from "../requests.ts";
import { flat, isRequired, listOf } from "../schemas.ts";
import type { Ask } from "../types.ts";
import {
  flow,
  idPathIn,
  pathParameters,
  plainName,
  requestIn,
  setupAsk,
  setupFor,
  variantOf,
  type World,
} from "../world.ts";
import { type Item, isScalar, listOfCreated } from "./flow.ts";

/** Refused creations, each with a text of its own, and then a list that must have none of them. */
export async function failedCreation(
  creator: ApiOperation,
  item: Item,
  world: World,
): Promise<Generated | undefined> {
  const found = listOfCreated(creator, world);
  const { bodySchema } = await world.goodOf(creator, 0);
  const schema = flat(bodySchema, bodySchema);
  const isMarker = (name: string) =>
    typeof item.body[name] === "string" &&
    !listOf(flat(Object(schema.properties)[name], bodySchema).enum).length;
  const marker = item.echo.fields.find(isMarker);
  if (!found || marker === undefined || !world.facts.get(creator.id)?.varied) return undefined;
  const others = Object.keys(item.body).filter((name) => name !== marker);
  const missing = others
    .filter((name) => isRequired(schema, name))
    .map((name) => ({ name, trial: undefined }));
  const wrong = others.map((name) => ({ name, trial: { value: { wrong: "type" } } }));
  const tries = [...missing.slice(0, 2), ...wrong.slice(0, 2)];
  if (tries.length === 0) return undefined;
  const { asks: parents, parameters } = await setupFor(creator, { variant: 2 }, world);
  const asks: Ask[] = [...parents];
  const verdicts: Ask[] = [];
  for (const [at, { name, trial }] of tries.entries()) {
    const { values } = await world.goodOf(creator, 10 + at);
    const text = Object(values.body)[marker];
    const body = withValue(values.body, [name], trial);
    const id = `refused_${at + 1}`;
    const request = requestIn(creator, { values: { ...values, body }, parameters }, world);
    asks.push(setupAsk(id, `create with a wrong ${name}`, creator, request, [{ status: ["2xx", "4xx"] }]));
    const isThere = `list.output.body${found.at}.exists(i, has(i.${marker}) && i.${marker} == ${JSON.stringify(text)})`;
    const label = `the refused creation with a wrong ${name} is not in the list`;
    const said = { label, operation: creator.id, fault: "F104", field: "list", shows: id } as const;
    verdicts.push(conditionOf(`nothing_left_${at + 1}`, `${id}.output.status < 400 || !${isThere}`, said));
  }
  const { values } = await world.goodOf(found.list, 0);
  const request = requestIn(found.list, { values, parameters }, world);
  const list = setupAsk("list", "list what is there", found.list, request, [{ status: "2xx" }]);
  return flow(creator, "a refused creation leaves nothing", [...asks, list, ...verdicts], world);
}

/** Read-only fields of a body that the reader shows, each with another value than it has. */
function forgedFields(creator: ApiOperation, read: ApiOperation, { echo }: Item, world: World) {
  const media = Object.entries(creator.body?.content ?? {}).find(([type]) => isJson(type))?.[1];
  // With the definitions, and with what is read-only.
  const root = wholeSchema(media?.schema ?? true, world.spec.definitions, "response");
  const { properties } = flat(root, root);
  const body = world.facts.get(read.id)?.body;
  const shown = Object(echo.at === "" ? body : Reflect.get(Object(body), echo.at.slice(1)));
  return Object.entries(isObject(properties) ? properties : {}).flatMap(
    ([name, part]): [string, unknown][] => {
      const old: unknown = shown[name];
      if (flat(part, root).readOnly !== true || !plainName.test(name) || !isScalar(old)) return [];
      const value =
        typeof old === "boolean" ? !old : makeValue(part, { root, seed: world.seed, variant: 5 }, name);
      return isScalar(value) && value !== old ? [[name, value]] : [];
    },
  );
}

/** Sends what the document calls read-only. */
export async function massAssignment(
  creator: ApiOperation,
  read: ApiOperation,
  item: Item,
  world: World,
): Promise<Generated | undefined> {
  const forged = forgedFields(creator, read, item, world);
  const parameter = pathParameters(read).at(-1) ?? "";
  const idPath = idPathIn(world.facts.get(creator.id)?.body, parameter);
  if (forged.length === 0 || idPath === undefined) return undefined;
  const { asks, parameters } = await setupFor(read, { variant: 4, but: parameter }, world);
  const { values } = await world.goodOf(creator, variantOf(creator, 4, world));
  const body = { ...Object(values.body), ...Object.fromEntries(forged) };
  const create = requestIn(creator, { values: { ...values, body }, parameters }, world);
  const what = `create with ${forged.map(([name]) => name).join(", ")}`;
  const made = { ...parameters, [`path.${parameter}`]: fill(`forge.output.${idPath}`) };
  const reading = requestIn(read, { parameters: made }, world);
  const verdicts = forged.map(([name, value], at) => {
    const place = `read.output.body${item.echo.at}`;
    const kept = `has(${place}.${name}) && ${place}.${name} == ${JSON.stringify(value)}`;
    const label = `the caller does not set ${name}`;
    const of = { operation: creator.id, field: `body.${name}`, shows: "forge" };
    return conditionOf(`own_${at + 1}`, `!(${kept})`, { label, fault: "F203", ...of });
  });
  return flow(
    creator,
    "read-only fields",
    [
      ...asks,
      setupAsk("forge", what, creator, create, [{ status: "2xx" }]),
      setupAsk("read", "read what was created", read, reading, [{ status: "2xx" }]),
      ...verdicts,
    ],
    world,
  );
}

const idempotencyKey = /^(x-)?idempotency-key$/i;

/** Twice with one key, where the document has such a header. */
export async function repeated(creator: ApiOperation, world: World): Promise<Generated | undefined> {
  const header = creator.parameters.find((one) => one.in === "header" && idempotencyKey.test(one.name));
  const idPath = idPathIn(world.facts.get(creator.id)?.body, "id");
  if (!header || idPath === undefined) return undefined;
  const { asks, parameters } = await setupFor(creator, { variant: 5 }, world);
  const { values, all } = await world.goodOf(creator, variantOf(creator, 6, world));
  const key = { ...values.parameters, [keyOf(header)]: all[keyOf(header)] };
  const request = requestIn(creator, { values: { ...values, parameters: key }, parameters }, world);
  const twice = ["first", "second"].map((id) =>
    setupAsk(id, `the ${id} with one key`, creator, request, [{ status: "2xx" }]),
  );
  const label = "both replies are of one creation";
  const said = { label, operation: creator.id, fault: "F903", field: `header.${header.name}` } as const;
  const verdict = conditionOf("once", `first.output.${idPath} == second.output.${idPath}`, said);
  return flow(creator, "again with one idempotency key", [...asks, ...twice, verdict], world);
}
