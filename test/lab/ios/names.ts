/** Bundle ids of the apps that iOS brings, by the packages of the same apps of the laboratory. */
const system: readonly (readonly [packageName: string, bundleId: string])[] = [
  ["com.android.settings", "com.apple.Preferences"],
  ["com.android.launcher3", "com.apple.springboard"],
  ["com.google.android.tvlauncher", "com.apple.PineBoard"],
];

export const bundleIdOf = (packageName: string): string =>
  system.find(([one]) => one === packageName)?.[1] ?? packageName;

export const packageOf = (bundleId: string): string =>
  system.find(([, one]) => one === bundleId)?.[0] ?? bundleId;
