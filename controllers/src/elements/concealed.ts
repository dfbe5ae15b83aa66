import { AsyncLocalStorage } from "node:async_hooks";

const concealing = new AsyncLocalStorage<(text: string) => string>();

/** Runs a check. What it compares, it compares with the secrets in it replaced by their names, so that it finds out no part of one. */
export const withConcealed = <T>(conceal: (text: string) => string, check: () => Promise<T>): Promise<T> =>
  concealing.run(conceal, check);

/** The text with the names of secrets in their place. */
export const concealed = (text: string): string => concealing.getStore()?.(text) ?? text;
