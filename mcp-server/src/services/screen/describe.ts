import type { Element } from "@labwright/controllers";

/** An element in one line: `e12 button "Save" disabled`, `e5 textbox "Email" = "a@b.c" focused`, `e7 combobox "Size" = "S" (S | M | L)`. */
export function describeElement(element: Element): string {
  const { ref, role, value, states } = element;
  const parts = [ref, role];
  const { title, rest } = words(element);
  if (title !== "") parts.push(quote(title, element.name === "" ? 200 : 100));
  if (value !== undefined && value !== "") parts.push("=", quote(value, 80));
  parts.push(...states);
  if (rest !== "")
    parts.push(role === "combobox" || role === "listbox" ? `(${rest})` : `: ${clip(rest, 200)}`);
  return parts.join(" ");
}

/** What an element is called, and what it says besides. */
function words({ name, text = "" }: Element): { title: string; rest: string } {
  if (name === "") return { title: text, rest: "" };
  return { title: name, rest: text === name ? "" : text };
}

export function quote(text: string, length: number): string {
  return `"${clip(text, length).replaceAll('"', "'")}"`;
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text;
}
