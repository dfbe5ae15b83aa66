import type { Element } from "@labwright/controllers";

const shownChoices = 5;

/**
 * An element in one line: `e12 button "Save" disabled`, `e5 textbox "Email" = "a@b.c" email focused`,
 * `e7 combobox "Size" = "S" (S | M | L)`, `e9 button "Delete" by "Ada"`.
 */
export function describeElement(element: Element): string {
  const { ref, role, value, states, headers, choices = [], moreChoices = 0, about = [], apart } = element;
  const parts = [ref, role];
  const { title, rest } = words(element);
  if (headers !== undefined && headers !== title) parts.push(`(${headers})`);
  if (title !== "") parts.push(quote(title, element.name === "" ? 200 : 100));
  parts.push(...about.filter((fact) => fact === guessed));
  if (value !== undefined && value !== "") parts.push("=", quote(value, 80));
  parts.push(...about.filter((fact) => fact !== guessed && !isError(fact)));
  parts.push(...states, ...about.filter(isError));
  if (apart !== undefined && apart !== "") parts.push(apart);
  if (choices.length > 0) parts.push(`(${choicesIn(choices, moreChoices)})`);
  if (rest !== "") parts.push(`: ${clip(rest, 200)}`);
  return parts.join(" ");
}

const guessed = "(label guessed)";
const isError = (fact: string) => fact.startsWith("error ");

function choicesIn(choices: readonly string[], moreChoices: number): string {
  const shown = choices.slice(0, shownChoices).map((choice) => clip(choice, 30));
  const more = choices.length - shown.length + moreChoices;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(" | ");
}

/** What an element is called, and what it says besides. */
function words({ name, text = "" }: Element): { title: string; rest: string } {
  if (name === "") return { title: text, rest: "" };
  return { title: name, rest: text === name ? "" : text };
}

export function quote(text: string, length: number): string {
  return `"${clip(text, length).replaceAll('"', "'")}"`;
}

/** At most so many characters, and how many there are more; counts on where the text was cut before. */
function clip(text: string, length: number): string {
  const [, head = text, more = "0", open = ""] = /^([\s\S]*) … (\d+)(\+?) more$/.exec(text) ?? [];
  if (head.length <= length) return text;
  const kept = head.slice(0, length).trimEnd();
  return `${kept} … ${head.length - kept.length + Number(more)}${open} more`;
}
