import { AsyncLocalStorage } from "node:async_hooks";
import type { AppInUse } from "@labwright/controllers";
import type { UserInterface } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";

const projects = new AsyncLocalStorage<string>();

/** Does `work` with names as the project means them; `folder` is empty for what is the database's own. */
export const inProject = <T>(folder: string, work: () => T): T => projects.run(folder, work);

/** The folder of the project whose names the caller means; empty where it is in none. */
export const projectInUse = (): string => projects.getStore() ?? "";

/** {@link onlyNamed} of userinterfaces. */
export const appNamed = <Row extends Named>(rows: readonly Row[], ref: string): Row | undefined =>
  onlyNamed(rows, { ref, what: "userinterface" });

type Named = { id: string; project: string };

/**
 * The one that a name or id means, of those that have it: the project's own, else the database's own, else the only one.
 * Throws AMBIGUOUS when several other projects have one.
 */
export function onlyNamed<Row extends Named>(
  rows: readonly Row[],
  { ref, what }: { ref: string; what: string },
): Row | undefined {
  const folder = projectInUse();
  const best =
    rows.find(({ id }) => id === ref) ??
    rows.find(({ project }) => project === folder) ??
    rows.find(({ project }) => project === "");
  if (best || rows.length <= 1) return best ?? rows[0];
  const candidates = rows.map(({ id, project }) => ({ id, project }));
  throw new ToolError(
    "AMBIGUOUS",
    `${rows.length} projects have a ${what} "${ref}": ${candidates.map(({ id, project }) => `${project} (${id})`).join(", ")}.`,
    "Give the id, or call from the folder of the project.",
    { candidates },
  );
}

/** The part of an app's model that a device needs. */
export type AppModel = Pick<UserInterface, "name"> &
  Partial<Pick<UserInterface, "app" | "test_id_attribute">>;

const apps = new AsyncLocalStorage<AppInUse | undefined>();

/** Does `work` in an app: it is the app in use of the work alone, so nothing that runs before or next to it counts. */
export function inApp<T>(model: AppModel | undefined, work: () => T): T {
  return apps.run(model && inUse(model), work);
}

/** The app that the caller works in, if there is one. */
export const appInUse = (): AppInUse | undefined => apps.getStore();

function inUse({ name, app = {}, test_id_attribute: testIdAttribute }: AppModel): AppInUse {
  const { url, package: id, activity, deep_link } = app;
  return { name, url, package: id, activity, deep_link, testIdAttribute };
}
