type Path = readonly PropertyKey[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A copy of `value` with `given` at the path. What leads there and is missing is made: an array for a number, else an object. */
export function withValue(value: unknown, [step, ...rest]: Path, given: unknown): unknown {
  if (step === undefined) return given;
  if (typeof step === "number") {
    const items: unknown[] = Array.isArray(value) ? [...value] : [];
    items[step] = withValue(items[step], rest, given);
    return items;
  }
  const fields = isObject(value) ? value : {};
  const key = String(step);
  const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return { ...fields, [key]: withValue(before, rest, given) };
}

/** A copy of `value` without the key that the path ends with. */
export function withoutKey(value: unknown, [step, ...rest]: Path): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? withoutKey(item, rest) : item));
  if (!isObject(value)) return value;
  const key = String(step);
  if (rest.length > 0) return { ...value, [key]: withoutKey(value[key], rest) };
  const { [key]: _, ...others } = value;
  return others;
}
