const half = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Removes half letters at which texts were cut: programs that read UTF-8 refuse them. */
export function wholeTexts<T>(value: T): T;
export function wholeTexts(value: unknown): unknown {
  if (typeof value === "string") return value.replace(half, "");
  if (Array.isArray(value)) return value.map((one: unknown) => wholeTexts(one));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => [key, wholeTexts(one)]),
  );
}
