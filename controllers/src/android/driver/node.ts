/** The lines of Node that the driver runs on, each from a version on (its package.json). */
const lines: Readonly<Record<number, number>> = { 20: 19, 22: 12 };
const everyLineFrom = 24;

/** Why the driver does not run on this version of Node; undefined where it does. */
export function whyNotOnNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const oldest = lines[major];
  if (major >= everyLineFrom || (oldest !== undefined && minor >= oldest)) return undefined;
  return `Node is ${version}, and it needs 20.19, 22.12 or 24`;
}
