import { hostileDocuments } from "./documents.ts";
import { hostileExpressions } from "./expressions.ts";
import type { Hostile, HostileSite } from "./hostile.ts";
import { hostilePatterns } from "./patterns.ts";
import { hostileSchemas } from "./schemas.ts";

export { type Hostile, type HostileSite, longText, pageOf } from "./hostile.ts";
export { hostileFiles } from "./schemas.ts";

/** 80 patterns, 50 expressions, 40 documents and 30 schemas, as a client sends them. The site is that of `HostileSite`. */
export const hostileInputs = (site: HostileSite): Hostile[] => [
  ...hostilePatterns(site),
  ...hostileExpressions(site),
  ...hostileDocuments(),
  ...hostileSchemas(site),
];
