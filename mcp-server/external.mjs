/** What the bundles leave outside: sharp's libraries lie beside its code, and Playwright starts programs of its own. */
export const external = ["playwright-core", "sharp"];
