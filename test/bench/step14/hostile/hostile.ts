/** Calls, made one after the other by one client. `name` is unique in its kind. */
export type Hostile = {
  kind: "pattern" | "expression" | "document" | "schema";
  name: string;
  calls: readonly { tool: string; input: Readonly<Record<string, unknown>> }[];
};

/** What a site serves for them: `documents` by path, and at /text a page and at /json an object that hold {@link longText}. */
export type HostileSite = { url(path: string): string };

/** Patterns that backtrack need years for it. */
export const longText = `${"a".repeat(5_000)}!`;
export const pageOf = (text: string): string =>
  `<!doctype html><title>Text</title><h1>Text</h1><p id="text">${text}</p>`;
