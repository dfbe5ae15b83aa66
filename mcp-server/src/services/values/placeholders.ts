import { nearest } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import { isNumberText } from "./exactNumbers.ts";

/** The text between two pairs of braces, with a backslash before it where the braces are literal. */
export const anyPlaceholder = /(\\?)\{\{([^{}]*)\}\}/g;
export const wholePlaceholder = /^\{\{([^{}]*)\}\}$/;
const pathGrammar = /^[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*$/;
const secretName = /^secret\s*\./;
export const secretPlaceholder = /\{\{\s*secret\s*\.[^{}]*\}\}/g;

/** Filled in by whoever runs the step, after it is recorded: never here. */
export const isSecret = (name: string): boolean => secretName.test(name);

/** Whether it is a name with a path such as `user.name[0]`. Everything else between braces is an expression. */
export const isPath = (placeholder: string): boolean => pathGrammar.test(placeholder);

/** `{{name}}` and `{{expression}}` in every string below `value`, in order, each once; `{{secret.NAME}}` and a number are none. */
export function placeholdersIn(value: unknown): string[] {
  const found = new Set<string>();
  for (const text of stringsIn(value)) {
    for (const [, backslash, name = ""] of text.matchAll(anyPlaceholder)) {
      const trimmed = name.trim();
      if (backslash === "" && !isSecret(trimmed) && !isNumberText(trimmed)) found.add(trimmed);
    }
  }
  return [...found];
}

export function holdsSecret(value: unknown): boolean {
  return stringsIn(value).some((text) => text.search(secretPlaceholder) >= 0);
}

/** The first name of a placeholder's path, or undefined when the text between the braces is not a path. */
export function rootOf(placeholder: string): string | undefined {
  return isPath(placeholder) ? placeholder.split(/[.[]/, 1)[0] : undefined;
}

export function unknownVariables(names: readonly string[], known: readonly string[]): ToolError {
  const [first = ""] = names;
  const environment = names.some((name) => /^env\b/.test(name))
    ? " Names of env are variables of the run's environment: environments in labwright.yaml, and --environment of the run."
    : "";
  const literal = `${environment} For the text itself write \\{{${first}}}.`;
  const near = [...new Set(names.flatMap((name) => nearest(rootOf(name) ?? name, known, 2)))];
  return new ToolError(
    "UNKNOWN_VARIABLE",
    `Unknown: ${names.map((name) => `{{${name}}}`).join(", ")}.`,
    near.length > 0
      ? `Did you mean ${near.map((name) => `{{${name}}}`).join(", ")}? Names are inputs, variables and block_id.output.${literal}`
      : `Names are inputs, variables and block_id.output of a block that has run.${literal}`,
    { unknown: names, nearest: near },
  );
}

export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
