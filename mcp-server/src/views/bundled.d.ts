/** See `bundleScript.mjs`. */
declare module "*?script" {
  export const expression: string;
}
declare module "*?style" {
  export const style: string;
}
