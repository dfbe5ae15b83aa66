/** A module and what it imports, bundled into one expression whose value has the module's exports: see `bundleScript.mjs`. */
declare module "*?script" {
  export const expression: string;
}

/** A file of a package as it is, in Brotli and Base64. */
declare module "*?packed" {
  export const packed: string;
}
