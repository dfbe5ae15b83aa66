import type { UiBackend } from "./ui/backend.ts";

const clearMs = 3_000;

/** What commands put on the clipboard of a device, which the next client shall not find. */
export class Clipboard {
  readonly #backend: UiBackend;
  #isUsed = false;

  constructor(backend: UiBackend) {
    this.#backend = backend;
  }

  async put(text: string, signal: AbortSignal): Promise<void> {
    const session = await this.#backend.session(signal);
    const body = { content: Buffer.from(text).toString("base64"), contentType: "plaintext" };
    this.#isUsed = true;
    await session.ask("POST", "/appium/device/set_clipboard", body, { signal });
  }

  /** Empties it if a command has put something there. Never throws: without a session nothing can be done. */
  async clear(): Promise<void> {
    if (!this.#isUsed || this.#backend.findSession() === undefined) return;
    await this.put("", AbortSignal.timeout(clearMs)).catch(() => undefined);
    this.#isUsed = false;
  }
}
