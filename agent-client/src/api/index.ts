export type { ApiDeps, KeyStore, Publish } from "./deps.ts";
export { fileKeyStore } from "./keyStore.ts";
export { startApi } from "./startApi.ts";
