/** The entries of worker threads, each a bundle of its own: its name in dist/ and its source. */
export const workers = {
  pgliteWorker: "src/storage/pgliteWorker.ts",
  schemaWorker: "src/services/apps/testcases/api/schemaWorker.ts",
};
