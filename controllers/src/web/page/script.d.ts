/** A module and what it imports, bundled into one expression whose value has the module's exports: see `bundleScript.mjs`. */
declare module "*?script" {
  export const expression: string;
}
