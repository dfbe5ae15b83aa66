/** The entries of worker threads, each one file in dist/, without chunks: its name and its source. */
export const workers = {
  pgliteWorker: "src/storage/engine/pgliteWorker.ts",
  schemaWorker: "src/services/apps/testcases/api/schemaWorker.ts",
};
/** What PGlite reads beside its own code, which here is pgliteWorker.js. */
export const pgliteFiles = ["pglite.wasm", "pglite.data", "initdb.wasm"];
