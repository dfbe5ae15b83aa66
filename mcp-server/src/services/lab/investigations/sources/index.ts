import { isAbsolute } from "node:path";
import { findSource, type Skill } from "@labwright/skills";
import { ToolError } from "../../../../errors.ts";
import type { Secrets } from "../../../ports.ts";
import { type Access, credentialsOf, type Http } from "./access.ts";
import { type ApiRequest, askApi } from "./api.ts";
import { createClickhouseSource } from "./clickhouse.ts";
import { createPostgresSource } from "./postgres.ts";
import type { Limits, QuerySource, Row, Statement } from "./source.ts";
import { createSqliteSource } from "./sqlite.ts";

type DataSources = NonNullable<Skill["data_sources"]>;
type Found = NonNullable<ReturnType<typeof findSource>>;
type DatabaseSource = Extract<Found, { kind: "database" }>;

/** The sources of one skill. */
export type OpenSources = {
  /** Differs where a source is set up otherwise. */
  id: string;
  query(name: string, statement: Statement, limits: Limits): Promise<Row[]>;
  request(name: string, request: ApiRequest, limits: Limits): Promise<unknown>;
};

export type SourceDependencies = { secrets: Pick<Secrets, "ofEnvironment">; http: Http };

/** So many databases stay open; the one that was used longest ago is closed for another. */
const mostOpen = 20;

/** The databases and APIs of all skills. A database is opened when it is first asked. */
export class Sources {
  private readonly open = new Map<string, QuerySource>();

  constructor(private readonly deps: SourceDependencies) {}

  of(sources: DataSources): OpenSources {
    return {
      id: JSON.stringify(sources),
      query: async (name, statement, limits) => {
        const found = getSource(sources, name);
        if (found.kind === "api") throw lacking(name, "a database: it is an API");
        return this.database(name, found).query(statement, limits);
      },
      request: async (name, request, limits) => {
        const found = getSource(sources, name);
        if (found.kind === "database") throw lacking(name, "an API: it is a database");
        const access = this.accessOf(name, found.source);
        return askApi({ name, access, http: this.deps.http }, request, limits);
      },
    };
  }

  async close(): Promise<void> {
    const open = [...this.open.values()];
    this.open.clear();
    await Promise.all(open.map((source) => source.close()));
  }

  private database(name: string, found: DatabaseSource): QuerySource {
    const key = JSON.stringify([name, found]);
    const known = this.open.get(key) ?? this.create(name, found);
    this.open.delete(key);
    this.open.set(key, known);
    const [[oldest, last] = []] = this.open;
    if (this.open.size > mostOpen && oldest !== undefined) {
      this.open.delete(oldest);
      void last?.close();
    }
    return known;
  }

  private create(name: string, { type, source }: DatabaseSource): QuerySource {
    const { secrets, http } = this.deps;
    if (type === "postgres") return createPostgresSource(name, () => clientOf(name, source, secrets));
    if (type === "clickhouse") return createClickhouseSource(name, () => this.accessOf(name, source), http);
    const path = textOf(source.file, secrets);
    if (path === undefined || !isAbsolute(path))
      throw lacking(name, "file, an absolute path or env:NAME of one");
    return createSqliteSource(name, path);
  }

  private accessOf(name: string, { endpoint: given, credentials, ...how }: Partial<Access> & Located) {
    const { secrets } = this.deps;
    const endpoint = textOf(given, secrets);
    if (endpoint === undefined || !/^https?:/.test(endpoint) || !URL.canParse(endpoint))
      throw lacking(name, "endpoint, an address with http or https, or env:NAME of one");
    return { ...how, endpoint, values: credentialsOf(credentials, secrets) };
  }
}

type Located = { endpoint?: string | undefined; credentials?: string | undefined };

/** `env:NAME` by its value, anything else as it is. */
function textOf(given: string | undefined, secrets: SourceDependencies["secrets"]): string | undefined {
  return given?.startsWith("env:") ? credentialsOf(given, secrets)[0] : given;
}

/** Credentials are the whole address. */
function clientOf(
  name: string,
  { credentials, database }: DatabaseSource["source"],
  secrets: SourceDependencies["secrets"],
) {
  const [address] = credentialsOf(credentials, secrets);
  if (address === undefined || !URL.canParse(address))
    throw lacking(name, "credentials: env:NAME, whose value is postgres://user:password@host:5432/database");
  if (database === undefined) return { connectionString: address };
  return { connectionString: Object.assign(new URL(address), { pathname: `/${database}` }).href };
}

function getSource(sources: DataSources, name: string): Found {
  const found = findSource(sources, name);
  if (found) return found;
  throw lacking(name, "an entry");
}

const lacking = (name: string, what: string): ToolError =>
  new ToolError(
    "CONFIG_INVALID",
    `The data source ${name} needs ${what}.`,
    "Correct data_sources of the skill.",
  );
