/** What a person reads of steps, blocks or inputs, in the indented form of a test's file. */
export function linesOf(value: unknown, indent = ""): string[] {
  if (typeof value !== "object" || value === null) return [`${indent}${value}`];
  if (Array.isArray(value))
    return value.flatMap((item) => {
      const [first = "", ...rest] = linesOf(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  return Object.entries(value).flatMap(([name, part]) => {
    const [first = "", ...rest] = linesOf(part, `${indent}  `);
    const isLeaf = typeof part !== "object" || part === null;
    return isLeaf ? [`${indent}${name}: ${first.trimStart()}`] : [`${indent}${name}:`, first, ...rest];
  });
}
