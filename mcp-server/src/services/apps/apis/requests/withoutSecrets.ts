import { isNumber } from "../../../values/exactNumbers.ts";

type Mask = <T>(value: T) => T;

/** JSON after `mask`, in which a number whose digits hold a secret is hidden too: it becomes a text. */
export function withoutSecrets<T>(json: T, mask: Mask): T;
export function withoutSecrets(json: unknown, mask: Mask): unknown {
  const hide = (value: unknown): unknown => {
    if (isNumber(value)) {
      const [digits, hidden] = [String(value), mask(String(value))];
      return hidden === digits ? value : hidden;
    }
    if (Array.isArray(value)) return value.map(hide);
    if (Object.prototype.toString.call(value) !== "[object Object]") return value;
    return Object.fromEntries(Object.entries(value ?? {}).map(([key, item]) => [key, hide(item)]));
  };
  return mask(hide(json));
}
