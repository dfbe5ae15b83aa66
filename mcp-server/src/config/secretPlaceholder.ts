/** `{{secret.NAME}}` */
export const secretPlaceholder = /\{\{\s*secret\.([A-Za-z_]\w*)\s*\}\}/g;
/** Variables of the environment that hold a secret begin with it. */
export const secretVariablePrefix = "LABWRIGHT_SECRET_";

/** The names that a value has placeholders of. */
export const secretsNamedIn = (value: unknown): string[] =>
  [...(JSON.stringify(value) ?? "").matchAll(secretPlaceholder)].map(([, name = ""]) => name);
