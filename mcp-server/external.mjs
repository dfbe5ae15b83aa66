/** What the bundles leave outside: PGlite's wasm and sharp's libraries lie beside their own code; Playwright starts programs of its own. */
export const external = ["@electric-sql/pglite", "playwright-core", "sharp"];
