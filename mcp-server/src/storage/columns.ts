import { customType } from "drizzle-orm/pg-core";

/** Instants are `timestamptz` in the database and ISO 8601 UTC strings with milliseconds everywhere else. */
export const instant = customType<{ data: string; driverData: string | Date }>({
  dataType: () => "timestamp (3) with time zone",
  fromDriver: (value) => new Date(value).toISOString(),
});

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A JSON object that no query looks into, as text: unlike `jsonb` that keeps the order of keys, which a model's cache
 * counts, and takes NUL and lone surrogates, which are escapes in JSON.
 */
export const jsonText = customType<{ data: JsonObject; driverData: string }>({
  dataType: () => "text",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (value): JsonObject => JSON.parse(value),
});
