import type { ApiMedia, ApiOperation, ApiSpec } from "../../../domain/index.ts";
import { mediaOf } from "../apis/requests/media.ts";
import { keyOf } from "../apis/requests/operationRequest.ts";
import { wholeSchema } from "../apis/spec/wholeSchema.ts";
import { type Making, makeValue } from "./makeValue.ts";
import type { Values } from "./requests.ts";

/** Judges a value by a schema that stands by itself; undefined for a schema that cannot be used. */
export type Judge = (schema: unknown, value: unknown) => Promise<boolean | undefined>;

export type Good = {
  values: Values;
  /** Each parameter's sound value, the optional ones included. */
  all: Readonly<Record<string, unknown>>;
  /** By itself, for what is sent; undefined for a body without one. */
  bodySchema: unknown;
  /** Whether the schemas say that the request is right. Else nothing follows from a success with another one. */
  isSound: boolean;
};

/** The request that the document asks for: its examples where they are right, else made from its schemas. */
export async function goodRequest(
  operation: ApiOperation,
  { definitions }: ApiSpec,
  making: Pick<Making, "seed" | "variant">,
  judge: Judge,
): Promise<Good> {
  const all: Record<string, unknown> = {};
  let isSound = true;
  for (const parameter of operation.parameters) {
    const root = wholeSchema(parameter.schema, definitions, "request");
    const { examples, name } = parameter;
    const { value, sound } = await chosen(examples, { ...making, root }, name, judge);
    all[keyOf(parameter)] = value;
    if (parameter.required) isSound &&= sound;
  }
  const needed = operation.parameters.filter(({ required }) => required).map(keyOf);
  const parameters = Object.fromEntries(needed.map((key) => [key, all[key]]));
  const [media, content] = mediaOf(operation) ?? [];
  if (media === undefined || content === undefined)
    return { values: { parameters }, all, bodySchema: undefined, isSound };
  const root = content.schema === undefined ? undefined : wholeSchema(content.schema, definitions, "request");
  const body = await bodyOf(content, root, making, judge);
  return {
    values: { parameters, body: body.value, media },
    all,
    bodySchema: root,
    isSound: isSound && body.sound,
  };
}

type Chosen = { value: unknown; sound: boolean };

async function chosen(
  examples: readonly unknown[],
  making: Making,
  name: string,
  judge: Judge,
): Promise<Chosen> {
  const { root, variant } = making;
  const made = makeValue(root, making, name);
  const candidates = variant === 0 ? [...examples.slice(0, 1), made] : [made, ...examples];
  for (const value of candidates) if ((await judge(root, value)) === true) return { value, sound: true };
  return { value: candidates[0], sound: false };
}

async function bodyOf(
  { examples }: ApiMedia,
  root: unknown,
  making: Pick<Making, "seed" | "variant">,
  judge: Judge,
): Promise<Chosen> {
  if (root === undefined) return { value: examples[0] ?? {}, sound: examples.length > 0 };
  const whole = await chosen(examples, { ...making, root }, "body", judge);
  if (whole.sound) return whole;
  const least = makeValue(root, { ...making, root, only: "required" }, "body");
  return (await judge(root, least)) === true ? { value: least, sound: true } : whole;
}
