/** The oldest of each line of Node that WebdriverIO is made for, as its package.json says. */
const oldest: Readonly<Record<number, readonly [minor: number, patch: number]>> = {
  20: [20, 2],
  22: [23, 4],
  24: [22, 1],
  26: [12, 1],
};

/** Why WebdriverIO may not run on this version of Node; undefined where it is made for it. */
export function whyNotOnNode(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [fromMinor, fromPatch] = oldest[major] ?? [Number.POSITIVE_INFINITY, 0];
  if (minor > fromMinor || (minor === fromMinor && patch >= fromPatch)) return undefined;
  return `Node is ${version}, and WebdriverIO is made for 20.20.2, 22.23.4, 24.22.1 and 26.12.1 or newer ones of these lines`;
}
