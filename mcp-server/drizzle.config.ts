// drizzle-kit takes the module itself when it has no default export. Paths are relative to where it runs: the root.
export const dialect = "postgresql";
export const schema = "mcp-server/src/storage/schema/index.ts";
export const out = "mcp-server/migrations";
