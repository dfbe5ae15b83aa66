const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What XML 1.0 does not allow, escaped or not: control characters, lone surrogates, and two non-characters. */
const notXml =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes any text safe as the content or a quoted attribute of HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replace(notXml, "\ufffd").replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
