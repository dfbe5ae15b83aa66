import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { ScreenReader } from "../screens/reader.ts";
import type { UiNode, UiTree } from "../screens/tree.ts";
import { inTurn } from "../waiting/deadlines.ts";
import type { PageLook } from "./pageReader.ts";
import { fits, lookScript, pageLook, showPage, webViewsOf } from "./pages.ts";

export const nativeContext = "NATIVE_APP";
const automatic = "auto";
/** A page that could not be read is not asked for again for so long: one that loads may be there soon. */
const failedMs = 2_000;

/** The WebViews of a device, as Appium's drivers name them: contexts. */
export type PagePort = {
  /** Those there are now, `NATIVE_APP` among them. */
  contexts(signal: AbortSignal): Promise<readonly string[]>;
  /** What a script gives in each page of a context. Throws WEBVIEW_NOT_DEBUGGABLE, CHROMEDRIVER_MISMATCH, DEVICE_ERROR. */
  read(context: string, script: string, signal: AbortSignal): Promise<readonly unknown[]>;
};

type Options = { usual: typeof automatic | typeof nativeContext; testId: () => string | undefined };

/** Puts the pages of WebViews into trees: of every one (`auto`), of none, or of the one that a client has named. */
export class WebPages {
  readonly #port: PagePort;
  readonly #options: Options;
  #context: string;
  readonly #inTurn = inTurn();
  readonly #failed = new Map<string, { error: DeviceError; until: number }>();

  constructor(port: PagePort, options: Options) {
    this.#port = port;
    this.#options = options;
    this.#context = options.usual;
  }

  /** Another client drives from here on. */
  handOver(): void {
    this.#context = this.#options.usual;
    this.#failed.clear();
  }

  /** Snapshots report what goes wrong in notices of the tree; only a context that was named makes it an error. */
  addTo(tree: UiTree, signal: AbortSignal): Promise<UiTree> {
    if (this.#context === nativeContext) return Promise.resolve(tree);
    return this.#inTurn(() => this.#add(tree, signal));
  }

  command(reader: ScreenReader): Command {
    const input = z.strictObject({
      context: z
        .string()
        .min(1)
        .max(300)
        .describe("NATIVE_APP: none; WEBVIEW_ and a package: the page of this app; auto: of the app shown."),
    });
    return defineCommand<typeof input>({
      name: "switch_context",
      description: "Chooses the WebView whose page is read; NATIVE_APP reads what accessibility says.",
      effect: "write",
      input,
      run: async ({ context }, signal) => {
        const contexts = await this.#port.contexts(signal);
        if (context !== automatic && !contexts.includes(context)) throw unknownContext(context, contexts);
        await this.#use(context, reader, signal);
        return { message: `reads ${context}`, data: { context, contexts } };
      },
    });
  }

  /** The screen is read at once, so that a page that cannot be read is reported now. */
  async #use(context: string, reader: ScreenReader, signal: AbortSignal): Promise<void> {
    const before = this.#context;
    this.#context = context;
    this.#failed.clear();
    reader.driven();
    try {
      await reader.look(signal);
    } catch (error) {
      this.#context = before;
      throw error;
    }
  }

  async #add(tree: UiTree, signal: AbortSignal): Promise<UiTree> {
    const notices: string[] = [];
    let { isCut = false } = tree;
    for (const webView of webViewsOf(tree)) {
      try {
        const missing = showPage(webView, await this.#look(webView, signal));
        notices.push(...missing);
        // What is missing in a page may be what a caller looks for.
        isCut ||= missing.length > 0;
      } catch (error) {
        if (this.#context !== automatic || !(error instanceof DeviceError)) throw error;
        if (!pageCodes.has(error.code)) throw error;
        notices.push(`the page in the WebView is not read (${error.code}): ${error.message}`);
      }
    }
    return { ...tree, isCut, notices: [...new Set(notices)] };
  }

  async #look(webView: UiNode, signal: AbortSignal): Promise<PageLook> {
    const context = this.#context === automatic ? `WEBVIEW_${webView.packageName}` : this.#context;
    const failed = this.#failed.get(context);
    if (failed && performance.now() < failed.until) throw failed.error;
    try {
      const answers = await this.#port.read(context, lookScript(this.#options.testId()), signal);
      return pageOf(webView, looksIn(answers));
    } catch (error) {
      if (error instanceof DeviceError && pageCodes.has(error.code))
        this.#failed.set(context, { error, until: performance.now() + failedMs });
      throw error;
    }
  }
}

/** What goes wrong with a page, and not with its device. */
const pageCodes: ReadonlySet<string> = new Set([
  "WEBVIEW_NOT_DEBUGGABLE",
  "CHROMEDRIVER_MISMATCH",
  "DEVICE_ERROR",
]);

/** From pages, which may have put anything in place of what the reader uses. */
function looksIn(answers: readonly unknown[]): PageLook[] {
  try {
    return z.array(pageLook).parse(answers);
  } catch (cause) {
    throw new DeviceError("DEVICE_ERROR", "Its page gave no look that can be used.", {}, { cause });
  }
}

/** Among the pages of an app, the one that a WebView shows. */
function pageOf(webView: UiNode, looks: readonly PageLook[]): PageLook {
  const shown = looks.filter((look) => look.isVisible && fits(look, webView));
  const titled = shown.filter(({ title }) => title === webView.text);
  const [page, ...others] = shown.length > 1 ? titled : shown;
  if (page !== undefined && others.length === 0) return page;
  const why =
    shown.length > 1
      ? `${shown.length} pages of the app look like it`
      : "no page of the app has its shape, as where a part of it is off the screen";
  throw new DeviceError("DEVICE_ERROR", `It is not known which page it shows: ${why}. Scroll it into view.`);
}

const unknownContext = (context: string, contexts: readonly string[]) =>
  new DeviceError(
    "CONTEXT_NOT_FOUND",
    `There is no context ${context}. There are: ${[automatic, ...contexts].join(", ")}.`,
    { contexts },
  );

/** The WebView of an app is not among those that can be debugged. */
export const notDebuggable = (context: string, contexts: readonly string[]): DeviceError =>
  new DeviceError(
    "WEBVIEW_NOT_DEBUGGABLE",
    `The device offers no ${context} to be debugged. The app must call WebView.setWebContentsDebuggingEnabled(true); switch_context takes another of: ${contexts.join(", ")}.`,
    { contexts },
  );

/** CHROMEDRIVER_MISMATCH where the words of chromedriver, or of the driver that starts it, say so. */
export function findMismatch(said: string): DeviceError | undefined {
  const [, supported = ""] = /only supports Chrome version (\d+)/.exec(said) ?? [];
  const [, found = "another version"] =
    /Current browser version is ([\d.]+)|automate Chrome '([\d.]+)'/.exec(said)?.filter(Boolean) ?? [];
  if (supported === "" && !/No Chromedriver found/.test(said)) return undefined;
  const there = supported === "" ? "there is no chromedriver for it" : `chromedriver is for ${supported}`;
  return new DeviceError(
    "CHROMEDRIVER_MISMATCH",
    `The WebView of the device is Chrome ${found}, and ${there}. Install the chromedriver of this version, and name it in the configuration.`,
    { webview: found, ...(supported !== "" && { chromedriver: supported }) },
  );
}
