/** A line for the device's shell; {@link runsIn} reads it. */
export const processLine: readonly string[] = ["ps", "-A", "-o", "NAME"];

/**
 * Whether an app has a process; undefined where the device lists none. The first is called after the package, each further one as
 * `com.example.shop:player`.
 */
export function runsIn(names: string, id: string): boolean | undefined {
  const lines = names.split("\n").map((line) => line.trim());
  if (!lines.includes("NAME")) return undefined;
  return lines.some((name) => name === id || name.startsWith(`${id}:`));
}
