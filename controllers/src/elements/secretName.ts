/** What the secret of a field with this label is called: letters, digits and underscores, at most 40; PASSWORD without a letter. */
export const secretNameOf = (label: string): string =>
  label
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .slice(0, 40)
    .replace(/^[\d_]+|_+$/g, "") || "PASSWORD";
