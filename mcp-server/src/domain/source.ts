/** Where an app or a test case is kept beside the database. */
export type Source = {
  /** The absolute path of the project's folder; empty for what is the database's own. */
  project: string;
  /** The path of its file in the project, with `/`; null where it has none. */
  file: string | null;
  /** sha256 of the file as it was last read or written. */
  file_hash: string | null;
};

/** Of what has no file. */
export const databaseOnly: Source = { project: "", file: null, file_hash: null };
