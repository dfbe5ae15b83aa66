import { compareNumber, parse, splitNumber, stringify } from "lossless-json";

const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** More digits than this are not computed with. */
const mostDigits = 10_000;

/** A JSON number as written, where JavaScript would write it differently: `9007199254740993`, `1.0`, `1e2`, `-0`. */
export class ExactNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** For readers of JSON who know doubles only: the number where a double holds it, else its digits as a text. */
  toJSON(): number | string {
    wroteExact = true;
    return isDouble(this) ? Number(this.#text) : this.#text;
  }
}

export type JsonNumber = number | ExactNumber;

export const isNumber = (value: unknown): value is JsonNumber =>
  value instanceof ExactNumber || (typeof value === "number" && Number.isFinite(value));

export const isNumberText = (text: string): boolean => grammar.test(text);

/** Whether a JavaScript number loses digits, or could have: from 2^53 on, several whole numbers become one. */
export function isBeyondDouble(text: string): boolean {
  if (!isNumberText(text)) return false;
  return !isDouble(new ExactNumber(text)) || isUnsafe(Number(text));
}

function isDouble(value: ExactNumber): boolean {
  const number = Number(value);
  return Number.isFinite(number) && sameNumber(number, value);
}

const isUnsafe = (value: number): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);

/** JavaScript numbers below a value that may have lost digits before they came here. */
export function unsafeNumbers(value: unknown): number[] {
  if (typeof value === "number") return isUnsafe(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(unsafeNumbers) : [];
}

/** A number of JSON from its text; a JavaScript number where that is written in the same way and is no other number. */
export function readNumber(text: string): JsonNumber {
  const number = Number(text);
  return String(number) === text && !isUnsafe(number) ? number : new ExactNumber(text);
}

/** A number that JavaScript may write otherwise, where a number can stand: an exponent, `-0`, a last 0, many digits or zeros. */
const perhapsExact =
  /(?:^|[[,:])\s*-?(?:[\d.]{16}|0\.0{5}|(?:(?<=-)0|\d+\.\d*0|\d+(?:\.\d+)?[eE][-+]?\d+)(?=[\s,\]}]|$))/;

/** Deeper JSON would overflow the stack of what walks through it. */
const deepest = 500;

export class TooDeep extends Error {
  override readonly message = `It is nested deeper than ${deepest} levels`;
}

/** JSON with every number as written. Throws SyntaxError, and {@link TooDeep} beyond 500 levels. */
export function parseJson(text: string): unknown {
  const value = parsed(text);
  if (isDeeper(value, deepest)) throw new TooDeep();
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function parsed(text: string): unknown {
  try {
    // Ten times as fast, and most documents have no such number.
    if (!perhapsExact.test(text)) return JSON.parse(text);
  } catch {
    // The other parser names the place.
  }
  try {
    return parse(text, undefined, { parseNumber: readNumber, onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    throw error instanceof RangeError ? new TooDeep() : error;
  }
}

/** Whether an ExactNumber was written since this was false. */
let wroteExact = false;

/** JSON text with every number as it was written; undefined of what JSON does not have. */
export function jsonText(value: unknown): string | undefined {
  wroteExact = false;
  try {
    const text = JSON.stringify(value);
    if (!wroteExact) return text;
  } catch {
    // Whole numbers of any size are written by the other one.
  }
  return stringify(value, undefined, undefined, exact);
}

const exact = [{ test: (value: unknown) => value instanceof ExactNumber, stringify: String }];

/** The value is `digits`, which end in no zero, times ten to the power of `exponent`. */
type Decimal = { sign: string; digits: string; exponent: number };

function decimalOf(value: JsonNumber): Decimal {
  const { sign, digits, exponent } = splitNumber(String(value));
  return { sign, digits, exponent: exponent - digits.length + 1 };
}

/** Below 0 where `a` is less than `b`, 0 where they are the same number, however written. */
export const compareNumbers = (a: JsonNumber, b: JsonNumber): number => compareNumber(String(a), String(b));

export const sameNumber = (a: JsonNumber, b: JsonNumber): boolean => compareNumbers(a, b) === 0;

export const isWhole = (value: JsonNumber): boolean => decimalOf(value).exponent >= 0;

/** A whole number as an integer; undefined for one with a fraction, or too long to compute with. */
export function wholeOf(value: JsonNumber): bigint | undefined {
  const decimal = decimalOf(value);
  if (decimal.exponent < 0 || decimal.digits.length + decimal.exponent > mostDigits) return undefined;
  return scaled(decimal, 0);
}

/** Throws RangeError where the two differ by too many digits. */
export function isMultipleOf(value: JsonNumber, step: JsonNumber): boolean {
  const [one, other] = [decimalOf(value), decimalOf(step)];
  const exponent = Math.min(one.exponent, other.exponent);
  const longest = Math.max(...[one, other].map((of) => of.digits.length + of.exponent - exponent));
  if (longest > mostDigits) throw new RangeError(`${value} has too many digits to be divided by ${step}`);
  return scaled(one, exponent) % scaled(other, exponent) === 0n;
}

const scaled = ({ sign, digits, exponent }: Decimal, to: number): bigint =>
  BigInt(sign + digits) * 10n ** BigInt(exponent - to);

/** Whether two JSON values are the same: numbers by their value, however written, and objects in any order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (isNumber(a) && isNumber(b)) return sameNumber(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (isNumber(a) || isNumber(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const [ofA, ofB] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    ofA.length === ofB.size && ofA.every(([key, value]) => ofB.has(key) && sameJson(value, ofB.get(key)))
  );
}

const plain = (value: ExactNumber): unknown => value.toJSON();

/** A value for what knows no exact numbers: each as its JSON is read, or what `replace` makes of it. */
export function withPlainNumbers<T>(value: T, replace?: typeof plain): T;
export function withPlainNumbers(value: unknown, replace = plain): unknown {
  if (value instanceof ExactNumber) return replace(value);
  if (Array.isArray(value)) return value.map((item: unknown) => withPlainNumbers(item, replace));
  if (Object.prototype.toString.call(value) !== "[object Object]") return value;
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([key, item]) => [key, withPlainNumbers(item, replace)] as const),
  );
}
