/** How titles of checks say what a check asks for. `input` is as a test gives it. */
type Input = Readonly<Record<string, unknown>>;

/** `"text"`, `…"text"…` for a part, `/text/` for a pattern. */
export function wantedIn(input: Input, key: string): string {
  const value = String(input[key] ?? "");
  if (input.match === "pattern") return `/${value.replace(/^\/|\/[a-z]*$/g, "")}/`;
  return input.match === "contains" ? `…"${value}"…` : `"${value}"`;
}

/** `: "text"`; empty where nothing is asked for. */
export const aboutIn = (input: Input, key: string): string =>
  input[key] === undefined ? "" : `: ${wantedIn(input, key)}`;

/** `at least 2 and at most 5` */
export function boundsIn({ min, max }: Input): string {
  const bounds = [
    min !== undefined && `at least ${String(min)}`,
    max !== undefined && `at most ${String(max)}`,
  ];
  return bounds.filter(Boolean).join(" and ");
}
