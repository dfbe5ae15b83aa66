import { DrizzleQueryError } from "drizzle-orm";
import pg from "pg";
import { ToolError } from "../../errors.ts";

/**
 * Classes of SQLSTATE that concern the database and not our statement: connection, resources, the administrator, the
 * system, the server's own faults; and a database that takes no changes. Source: PostgreSQL documentation, appendix A.
 */
const ofDatabase = /^(08|53|57P|58|XX|25006|55P03)/;

/** STORAGE_FAILED for an error of the database itself, ALREADY_EXISTS for a name that another call stored first. Undefined for any other error, such as a statement of ours that is wrong. */
export function storageFailure(error: unknown): ToolError | undefined {
  if (error instanceof DrizzleQueryError) return failureOf(error.cause ?? error);
  return error instanceof pg.DatabaseError ? failureOf(error) : undefined;
}

/** What a statement or a connection failed with. Any error that has no SQLSTATE is one of the connection. */
function failureOf(error: Error): ToolError | undefined {
  if (error instanceof ToolError) return error;
  if (isNameTaken(error)) return nameTaken();
  if (error instanceof pg.DatabaseError && !ofDatabase.test(error.code ?? "")) return undefined;
  return databaseGone(error);
}

/** A name is looked up before it is stored, and of two calls at once both find it free: a unique index stops the second. */
const isNameTaken = (error: Error): boolean =>
  error instanceof pg.DatabaseError &&
  error.code === "23505" &&
  /_(name|label|code)$/.test(error.constraint ?? "");

const nameTaken = () =>
  new ToolError(
    "ALREADY_EXISTS",
    "Another call stored something under that name at the same moment. Nothing was changed by this one.",
    "Look at what is there now, then choose another name, or call again to change or replace it.",
  );

export function databaseGone(error: unknown): ToolError {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  return new ToolError(
    "STORAGE_FAILED",
    `The database failed: ${messageOf(error)}.`,
    hints[code ?? ""] ??
      "Check that the database runs and has space on its disk (labwright doctor), then call again.",
    {},
    { cause: error },
  );
}

const hints: Readonly<Record<string, string>> = {
  "53100":
    "Free space on the disk that holds the database, then call again; labwright doctor shows the disks.",
  "25006":
    "It takes no changes: free space on the disk of the data directory, or let DATABASE_URL name a server that may be written. Then call again.",
};

/** Node gives a connection that was tried on several addresses an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(/\.$/, "");
}
