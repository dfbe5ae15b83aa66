import type { Grant, OpenDevice } from "../../ports.ts";

/** What a run has in place of a device: nothing to look at and nothing to drive. Its id is empty. */
export function withoutDevice(host: string, signal: AbortSignal): Grant {
  const device: OpenDevice = {
    ...{ id: "", host, name: "", model: "" },
    offers: () => [],
    controllers: [],
    unavailable: [],
    isOpen: () => false,
    untilOpen: async () => undefined,
  };
  return { device, lease: undefined, signal, done: () => undefined };
}
