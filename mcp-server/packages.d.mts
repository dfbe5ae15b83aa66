/** A package that runs in what people install. `node` is what its `engines` ask for. */
export type RuntimePackage = {
  path: string;
  name: string;
  version: string;
  license: string;
  node?: string;
  optional: boolean;
};
export function runtimePackages(root: string): RuntimePackage[];
export function bundledLicences(root: string, inputs: readonly string[]): string;
export const external: readonly string[];
