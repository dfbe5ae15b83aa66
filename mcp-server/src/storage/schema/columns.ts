import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import { customType, type PgTable } from "drizzle-orm/pg-core";

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

type Nullable<Row> = { [Key in keyof Row]: null extends Row[Key] ? Key : never }[keyof Row];

/** A row as the rest of the server sees it: a column without a value is a key that is left out. */
export type WithoutNulls<Row> = Omit<Row, Nullable<Row>> & {
  [Key in Nullable<Row>]?: NonNullable<Row[Key]>;
};

export function withoutNulls<Row extends object>(row: Row): WithoutNulls<Row>;
export function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** Whether a row has these values; a value that is undefined does not matter. */
export function hasValues<Table extends PgTable>(
  table: Table,
  values: { [Name in keyof Table["$inferSelect"]]?: Table["$inferSelect"][Name] | undefined },
): SQL | undefined {
  const columns = new Map(Object.entries(getTableColumns(table)));
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return and(
    ...given.map(([name, value]) => {
      const column = columns.get(name);
      if (!column) throw new Error(`no column is called ${name}`);
      return eq(column, value);
    }),
  );
}

/** Every column of a table, null where the row leaves it out: an update would keep what is undefined. */
export function everyColumn<Table extends PgTable>(
  table: Table,
  row: Table["$inferInsert"],
): Table["$inferInsert"];
export function everyColumn(table: PgTable, row: object): object {
  const values = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(Object.keys(getTableColumns(table)).map((key) => [key, values.get(key) ?? null]));
}
