import { AsyncLocalStorage } from "node:async_hooks";

/** The attribute that names elements for tests where no app says another. */
const usual = "data-testid";

const inUse = new AsyncLocalStorage<string>();

/** Does `work` in an app: its test-id attribute is that of the work alone, so nothing that runs before or beside it counts. */
export function inApp<T>(testIdAttribute: string | undefined, work: () => T): T {
  return inUse.run(testIdAttribute ?? usual, work);
}

/** Of the app that the caller works in. */
export const testIdAttributeInUse = (): string => inUse.getStore() ?? usual;
