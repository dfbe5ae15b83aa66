import { AsyncLocalStorage } from "node:async_hooks";
import type { AppInUse } from "@labwright/controllers";
import type { UserInterface } from "../../domain/index.ts";

/** What a device is told of the model of an app. */
export type AppModel = Pick<UserInterface, "name"> &
  Partial<Pick<UserInterface, "app" | "test_id_attribute">>;

const inUse = new AsyncLocalStorage<AppInUse | undefined>();

/** Does `work` in an app: it is the app in use of the work alone, so nothing that runs before or beside it counts. */
export function inApp<T>(model: AppModel | undefined, work: () => T): T {
  return inUse.run(model && told(model), work);
}

/** The app that the caller works in, if there is one. */
export const appInUse = (): AppInUse | undefined => inUse.getStore();

function told({ name, app = {}, test_id_attribute: testIdAttribute }: AppModel): AppInUse {
  const { url, package: id, activity, deep_link } = app;
  return { name, url, package: id, activity, deep_link, testIdAttribute };
}
