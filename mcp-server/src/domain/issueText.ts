import type { z } from "zod";

type Issue = z.core.$ZodIssue;

const nouns: Readonly<Record<string, string>> = {
  ...{ string: "text", number: "a number", int: "a whole number", boolean: "true or false" },
  ...{ array: "a list", object: "a map", record: "a map", null: "empty", undefined: "missing" },
};
const nounOf = (type: string) => nouns[type] ?? type;
const units: Readonly<Record<string, string>> = { string: " characters", array: " items" };

/** What a schema says against a value, for a person. A message that the schema has of its own stays. */
export function issueText(issue: Issue): string {
  const { message } = issue;
  if (!/^(?:Invalid input|Invalid option|Too small|Too big): expected /.test(message)) return message;
  switch (issue.code) {
    case "invalid_type":
      return typeText(issue.expected, message);
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return boundText(issue.origin, issue.minimum, issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return boundText(issue.origin, issue.maximum, issue.inclusive === false ? "less than" : "at most");
    default:
      return message;
  }
}

/** Zod keeps the value to itself, apart from its type in the message. */
function typeText(expected: string, message: string): string {
  const received = /, received (\w+)$/.exec(message)?.[1] ?? "something else";
  const wanted = `must be ${nounOf(expected)}`;
  return received === "undefined" ? `is missing; it ${wanted}` : `${wanted}, not ${nounOf(received)}`;
}

function boundText(origin: string, bound: number | bigint, relation: string): string {
  const unit = units[origin];
  if (unit === undefined) return `must be ${relation} ${bound}`;
  return `must have ${relation} ${bound}${bound === 1 ? unit.slice(0, -1) : unit}`;
}
