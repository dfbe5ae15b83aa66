import { z } from "zod";

/** Written by hand in older skills, and never used: see {@link refusedSources}. */
const refused = "aws_iam";
const variable = "[A-Za-z_][A-Za-z0-9_]*";
const credentials = z
  .string()
  .regex(
    new RegExp(`^(${refused}|env:${variable}(,${variable})*)$`),
    "must be env:NAME, or env:USER,PASSWORD, with the names of environment variables",
  );
const address = z
  .string()
  .regex(new RegExp(`^(https?://\\S+|env:${variable})$`), "must be an http address or env:NAME");
const names = z.array(z.string().min(1)).default([]);

const databaseTypes = ["postgres", "sqlite", "clickhouse"] as const;
type DatabaseType = (typeof databaseTypes)[number];
/** Names of sources that say what they are. Redshift speaks the protocol of PostgreSQL. */
const typeByName: Readonly<Record<string, DatabaseType>> = {
  postgres: "postgres",
  postgresql: "postgres",
  redshift: "postgres",
  sqlite: "sqlite",
  clickhouse: "clickhouse",
};

const database = z.strictObject({
  type: z.enum(databaseTypes).optional(),
  /** env:NAME of the address (postgres://user:password@host/database); for ClickHouse a token, or user and password. */
  credentials: credentials.optional(),
  /** The HTTP address of ClickHouse. */
  endpoint: address.optional(),
  /** The file of a SQLite database, or env:NAME of its path. */
  file: z.string().min(1).optional(),
  database: z.string().min(1).optional(),
  service: z.string().min(1).optional(),
  /** For readers only. */
  tables: names,
  logs: names,
});

const api = z.strictObject({
  endpoint: address,
  auth: z.enum(["none", "basic", "api_key", "bearer"]).default("none"),
  /** The header of an API key. */
  header: z.string().min(1).default("X-API-Key"),
  credentials: credentials.optional(),
});

/** Databases by name, and APIs by name under `apis`. */
export const dataSourcesSchema = z
  .object({ apis: z.record(z.string(), api).optional() })
  .catchall(database)
  .superRefine((sources, context) => {
    for (const [name, source] of databasesOf(sources))
      if (databaseType(name, source) === undefined)
        context.addIssue({
          code: "custom",
          path: [name],
          message: `needs type: ${databaseTypes.join(", ")}`,
        });
  });

export type DataSources = z.output<typeof dataSourcesSchema>;
type Database = z.output<typeof database>;
type DataApi = z.output<typeof api>;

const databasesOf = (sources: DataSources): [name: string, Database][] =>
  Object.entries(sources).flatMap(([name, source]) =>
    name === "apis" || source === undefined ? [] : [[name, database.parse(source)]],
  );

/** Undefined when neither `type` nor the name says it. */
const databaseType = (name: string, { type }: Pick<Database, "type">): DatabaseType | undefined =>
  type ?? (Object.hasOwn(typeByName, name) ? typeByName[name] : undefined);

/** The database or API of a name. */
export function findSource(
  sources: DataSources | undefined,
  name: string,
): { kind: "database"; type: DatabaseType; source: Database } | { kind: "api"; source: DataApi } | undefined {
  const source = databasesOf(sources ?? {}).find(([one]) => one === name)?.[1];
  const type = source && databaseType(name, source);
  if (source !== undefined && type !== undefined) return { kind: "database", type, source };
  const found = Object.entries(sources?.apis ?? {}).find(([one]) => one === name)?.[1];
  return found && { kind: "api", source: found };
}

export const sourceNames = (sources: DataSources | undefined): ReadonlySet<string> =>
  new Set([...databasesOf(sources ?? {}).map(([name]) => name), ...Object.keys(sources?.apis ?? {})]);

/** Sources whose credentials are not taken, with what to do. Queries of them must be refused. */
export function refusedSources(sources: DataSources | undefined): { path: string[]; message: string }[] {
  const apis = Object.entries(sources?.apis ?? {}).map(([name, source]) => [["apis", name], source] as const);
  const databases = databasesOf(sources ?? {}).map(([name, source]) => [[name], source] as const);
  return [...databases, ...apis].flatMap(([path, source]) =>
    source.credentials === refused
      ? [{ path: ["data_sources", ...path, "credentials"], message: refusal(path.join(".")) }]
      : [],
  );
}

const refusal = (name: string): string =>
  `${refused} is not supported, so ${name} is not asked: put the address with user and password into an environment variable, and write env:NAME`;
