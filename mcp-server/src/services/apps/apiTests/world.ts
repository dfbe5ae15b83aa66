import type { ApiCheck, ApiOperation, ApiSpec } from "../../../domain/index.ts";
import { isObject } from "../apis/spec/reader.ts";
import type { Good, Judge } from "./goodRequest.ts";
import { askOf, type Generated, type Head, nameOf, sequence } from "./graphs.ts";
import type { ReplyRules } from "./replyChecks.ts";
import {
  type Credentials,
  type Filled,
  fill,
  type RequestFields,
  requestOf,
  type Values,
} from "./requests.ts";

import type { Ask } from "./types.ts";

/** What the good request to an operation showed. */
export type Fact = {
  reached: boolean;
  /** Whether a second one, with texts of its own, was accepted too. */
  varied: boolean;
  body?: unknown;
};

/** What is known of an API while its tests are made. */
export type World = {
  spec: ApiSpec;
  baseUrl: string;
  seed: number;
  judge: Judge;
  facts: Map<string, Fact>;
  rulesOf(operation: ApiOperation): Promise<ReplyRules>;
  goodOf(operation: ApiOperation, variant: number): Promise<Good>;
  credentialsOf(operation: ApiOperation, role?: string): Credentials;
  roles: readonly string[];
};

/** Requests that make what a path names, and the path's parameters by them. */
export type Setup = { asks: Ask[]; parameters: Readonly<Record<string, Filled>> };

export const plainName = /^[A-Za-z_]\w*$/;

/** Where the reply to a creation has the id of what was made: `body.id`, `body.data.id`. */
export function idPathIn(body: unknown, parameter: string): string | undefined {
  const isId = (value: unknown) => (typeof value === "string" && value !== "") || typeof value === "number";
  const bare = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const find = (part: unknown): string | undefined => {
    if (!isObject(part)) return undefined;
    const names = Object.keys(part).filter((name) => plainName.test(name) && isId(part[name]));
    const named = names.find((name) => bare(name) === bare(parameter));
    return (
      named ??
      names.find((name) => bare(name) === "id") ??
      names.find((name) => /^(uuid|key|slug|code)$/i.test(name))
    );
  };
  const own = find(body);
  if (own !== undefined) return `body.${own}`;
  if (!isObject(body)) return undefined;
  for (const [name, part] of Object.entries(body)) {
    const inner = plainName.test(name) ? find(part) : undefined;
    if (inner !== undefined) return `body.${name}.${inner}`;
  }
  return undefined;
}

type Creator = { creator: ApiOperation; idPath: string };

/** Who makes what a parameter of a path names, if its good request was accepted: by the document's links, else by the path. */
export function creatorOf(
  { id, path }: ApiOperation,
  parameter: string,
  { spec, facts }: World,
): Creator | undefined {
  for (const creator of spec.operations) {
    const fact = facts.get(creator.id);
    if (creator.method !== "POST" || !fact?.reached) continue;
    const linked = linkTo(id, parameter, creator);
    const collection = path.slice(0, Math.max(0, path.indexOf(`/{${parameter}}`)));
    const idPath = linked ?? (creator.path === collection ? idPathIn(fact.body, parameter) : undefined);
    if (idPath !== undefined) return { creator, idPath };
  }
  return undefined;
}

function linkTo(operationId: string, parameter: string, { responses }: ApiOperation): string | undefined {
  const links = Object.values(responses).flatMap((response) => response.links);
  for (const { operation_id, parameters } of links) {
    if (operation_id !== operationId) continue;
    const source = parameters[parameter] ?? parameters[`path.${parameter}`];
    const pointer =
      typeof source === "string" ? /^\$response\.body#((?:\/\w+)+)$/.exec(source)?.[1] : undefined;
    if (pointer !== undefined) return `body${pointer.replaceAll("/", ".")}`;
  }
  return undefined;
}

export const pathParameters = ({ path }: ApiOperation): string[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);

export type Sent = { values?: Values; role?: string; parameters?: Setup["parameters"] };

export const requestIn = (
  operation: ApiOperation,
  { values, role, parameters }: Sent,
  world: World,
): RequestFields =>
  requestOf(
    operation,
    { ...values, parameters: { ...values?.parameters, ...parameters } },
    { credentials: world.credentialsOf(operation, role) },
  );

export const setupAsk = (
  id: string,
  label: string,
  { id: operation }: ApiOperation,
  request: RequestFields,
  checks: ApiCheck[],
): Ask => askOf({ label, kind: "setup", operation, request, checks }, id);

/** A request that creates, with the parameters that were made before it. */
export async function creation(
  creator: ApiOperation,
  { id, variant, parameters }: { id: string; variant: number; parameters: Setup["parameters"] },
  world: World,
): Promise<Ask> {
  const { values } = await world.goodOf(creator, variantOf(creator, variant, world));
  const request = requestIn(creator, { values, parameters }, world);
  return setupAsk(id, `set up: ${creator.id}`, creator, request, [{ status: "2xx" }]);
}

export const variantOf = ({ id }: ApiOperation, variant: number, { facts }: World): number =>
  facts.get(id)?.varied ? variant : 0;

/** Makes what the path names, as far as an operation makes it; without the parameters from `but` on. */
export async function setupFor(
  operation: ApiOperation,
  { variant, but }: { variant: number; but?: string | undefined },
  world: World,
): Promise<Setup> {
  const asks: Ask[] = [];
  const parameters: Record<string, Filled> = {};
  for (const name of pathParameters(operation)) {
    if (name === but) break;
    const found = creatorOf(operation, name, world);
    if (!found) continue;
    const id = `setup_${asks.length + 1}`;
    asks.push(await creation(found.creator, { id, variant, parameters }, world));
    parameters[`path.${name}`] = fill(`${id}.output.${found.idPath}`);
  }
  return { asks, parameters };
}

export const headOf = ({ spec, baseUrl }: World, ...names: string[]): Head => ({
  ...{ name: nameOf(spec.name, ...names), base: baseUrl, variables: {} },
});

/** A test of requests that need each other. */
export const flow = (operation: ApiOperation, what: string, asks: readonly Ask[], world: World): Generated =>
  sequence(headOf(world, operation.id, what), operation.id, asks);
