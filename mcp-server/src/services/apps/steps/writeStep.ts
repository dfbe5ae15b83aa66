import { isDeepStrictEqual } from "node:util";
import { blockSchema } from "../../../domain/index.ts";
import type { Body, Language } from "./readStep.ts";
import { isBare } from "./readStep.ts";
import { isFields, kinds, writtenValue } from "./verbs.ts";
import { usualWords, withoutEmpty } from "./words.ts";

/** A block as a step: its usual words, else an object. What the step cannot say shows when it is read again. */
export function writeBody(body: Body, language: Language): unknown {
  const { verb, value, beside } = partsOf(body);
  const isEmpty = isFields(value) && Object.keys(value).length === 0;
  const isAlone = isEmpty && Object.keys(beside).length === 0 && body.negate !== true;
  if (isAlone && isBare(verb, language.verbs)) return verb;
  const words = usualWords(withoutEmpty(body), language);
  if (words !== undefined) return words;
  return body.negate === true ? { not: { [verb]: value }, ...beside } : { [verb]: value, ...beside };
}

/** The verb of a block, what stands below it, and what stands beside it. */
function partsOf({ type, id, label, negate: _, ...fields }: Body) {
  const names = { ...(id !== undefined && { id }), ...(label !== undefined && { label }) };
  if (type === "action" || type === "verification") {
    const { command, params = {}, ...beside } = fields;
    return { verb: String(command), value: params, beside: { ...names, ...beside } };
  }
  const found = Object.entries(kinds).find(([, kind]) => kind.type === type);
  if (!found) return { verb: type, value: fields, beside: names };
  const [verb, kind] = found;
  return { verb, value: writtenValue(kind, fields), beside: names };
}

/** A block without what its schema puts back. */
export function withoutDefaults(block: Body): Body {
  const { negate, ...rest } = block;
  const given: Body = negate === true ? block : { ...rest, type: block.type };
  const whole = parse(given);
  if (whole === undefined) return given;
  const needed = Object.entries(given).filter(([key]) => {
    const { [key]: _, ...without } = given;
    return !isDeepStrictEqual(parse(without), whole);
  });
  return { ...Object.fromEntries(needed), type: block.type };
}

const parse = (block: object): unknown => blockSchema.safeParse(block).data;
