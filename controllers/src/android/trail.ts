/** A line of the device's log from which on a check reads it. `second` is of the device's clock. */
export type LogMark = { token: string; second: number };

/** `ms` is absent where the app ran already, or the device did not say. `state` is COLD, WARM or HOT. */
export type AppStart = { id: string; ms?: number; state?: string };

/** What commands leave behind for checks. */
export type Trail = { mark: LogMark | undefined; start: AppStart | undefined };

export const newTrail = (): Trail => ({ mark: undefined, start: undefined });
