import type { ApiSpec } from "../../../domain/index.ts";

type Described = Pick<ApiSpec, "operations" | "definitions">;

/** Operations by method and path, as `GET /pets`. */
export type Changes = { added: string[]; removed: string[]; changed: string[] };

/** An operation has changed where its text or a schema that it refers to, however far away, has. */
export function changesBetween(before: Described, after: Described): Changes {
  const [old, fresh] = [before, after].map(
    ({ operations }) => new Map(operations.map((one) => [`${one.method} ${one.path}`, JSON.stringify(one)])),
  );
  if (!old || !fresh) return { added: [], removed: [], changed: [] };
  const schemas = changedSchemas(before.definitions, after.definitions);
  return {
    added: [...fresh.keys()].filter((key) => !old.has(key)),
    removed: [...old.keys()].filter((key) => !fresh.has(key)),
    changed: [...fresh].flatMap(([key, text]) => {
      const was = old.get(key);
      return was !== undefined && (was !== text || refersTo(text, schemas)) ? [key] : [];
    }),
  };
}

function changedSchemas(before: ApiSpec["definitions"], after: ApiSpec["definitions"]): Set<string> {
  const texts = new Map(Object.entries(after).map(([name, schema]) => [name, JSON.stringify(schema)]));
  const changed = new Set(
    [...texts].filter(([name, text]) => JSON.stringify(before[name]) !== text).map(([name]) => name),
  );
  // Until a round adds none: a schema that refers to a changed one has changed too.
  for (let size = -1; size !== changed.size; ) {
    size = changed.size;
    for (const [name, text] of texts) if (refersTo(text, changed)) changed.add(name);
  }
  return changed;
}

const refersTo = (text: string, names: ReadonlySet<string>): boolean =>
  names.size > 0 && [...text.matchAll(/"#\/\$defs\/([^"]+)"/g)].some(([, name]) => names.has(name ?? ""));
