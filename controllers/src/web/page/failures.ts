import { DeviceError, type DeviceErrorCode, type Dispatched } from "../../errors.ts";
import { playwright } from "./playwright.ts";

/** Obstacles to an action by lines of Playwright's call log; the last such line counts. */
const obstacles: readonly { line: RegExp; says: (match: RegExpMatchArray) => string; next: string }[] = [
  {
    line: /- (<.*>.*) intercepts pointer events/,
    says: (match) => `it is covered by ${shorten(match[1] ?? "another element")}`,
    next: "Close or act on what covers it first.",
  },
  {
    line: /element is not enabled/,
    says: () => "it is disabled",
    next: "Do what enables it first, or wait_for it.",
  },
  {
    line: /element is not visible/,
    says: () => "it is hidden",
    next: "Open what contains it first, or act on its visible label.",
  },
  {
    line: /element is not editable/,
    says: () => "it is read-only",
    next: "Use another element or do what makes it editable first.",
  },
  {
    line: /element is not stable/,
    says: () => "it keeps moving",
    next: "Wait for its animation to end, or raise timeout_ms.",
  },
  {
    line: /element is outside of the viewport/,
    says: () => "it cannot be scrolled into view",
    next: "Enlarge the page with set_viewport_size, or open what contains it.",
  },
  {
    line: /did not find some options/,
    says: () => "it has no such option",
    next: "Dump the screen to see its options.",
  },
];

/** Errors of Chromium and Firefox if a server cannot be reached. */
const unreachableReasons: readonly (readonly [RegExp, string])[] = [
  [/CONNECTION_REFUSED/, "nothing listens at that address"],
  [/NAME_NOT_RESOLVED|UNKNOWN_HOST|\bDNS_/, "the host name is unknown"],
  [/INTERNET_DISCONNECTED|NS_ERROR_OFFLINE/, "the network is off (see set_network)"],
  [/TIMED_OUT|NET_TIMEOUT/, "the host does not answer"],
  [
    /EMPTY_RESPONSE|CONNECTION_(CLOSED|RESET)|NET_(RESET|INTERRUPT)/,
    "the server closed the connection without an answer",
  ],
  [/ERR_CERT_|ERR_SSL_|SEC_ERROR|SSL_ERROR|CERTIFICATE/, "its certificate or encryption is not accepted"],
  [/CONNECTION_|ADDRESS_|NETWORK_|PROXY_|TUNNEL_/, "there is no way to that host"],
];

/** Why a server was not reached, by a browser's error; undefined for another error. */
export function unreachableReason(text: string): string | undefined {
  return unreachableReasons.find(([pattern]) => pattern.test(text))?.[1];
}

export function unreachable(what: string, reason: string, detail: string): DeviceError {
  return new DeviceError("APP_UNREACHABLE", `${what}: ${reason}. Check the address and that the app runs.`, {
    reason: detail,
  });
}

const networkReasons: Readonly<Record<string, string>> = {
  ERR_TOO_MANY_REDIRECTS: "the page redirects in a circle",
  ERR_INVALID_AUTH_CREDENTIALS:
    "the server answers 401: it asks for a name and password (see http_credentials), or does not take those it has been given",
  ERR_ABORTED: "the address gives a download or no content, not a page",
};

export type Attempt = {
  /** The command, as its caller named it. */
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  isAlive(): boolean;
  /** Whether the URL policy refused a request since the attempt began. */
  wasDenied(): boolean;
};

/**
 * The DeviceError for an error of an action. The original is not its cause, since Playwright's call log has the typed text, which
 * may be a secret.
 */
export function asDeviceError(error: unknown, attempt: Attempt): DeviceError {
  if (error instanceof DeviceError) return error;
  if (!attempt.isAlive()) return lostBrowser();
  if (attempt.signal.aborted) {
    return new DeviceError(
      "COMMAND_TIMEOUT",
      `${attempt.command} was stopped before it ended. Look at the screen before repeating it.`,
    );
  }
  const reason = reasonOf(error);
  return (
    tooLong(reason) ??
    networkFailure(reason, attempt) ??
    elementFailure(error, reason, attempt) ??
    closedFailure(reason, attempt) ??
    new DeviceError(
      "DEVICE_ERROR",
      `${attempt.command} failed: ${firstLines(error)}. Look at the screen and try another way.`,
    )
  );
}

/** For an answer that the browser's pipe refuses; undefined for another error. */
export function tooLong(text: string): DeviceError | undefined {
  const [, size] = /the answer has (\d+ bytes), which is too much to read/.exec(text) ?? [];
  return size === undefined ? undefined : answerTooLong(size);
}

export const answerTooLong = (size: string): DeviceError =>
  new DeviceError(
    "ACTION_REJECTED",
    `The page answers with ${size}, which is too much to read. Name a smaller part of it.`,
  );

export function lostBrowser(): DeviceError {
  return new DeviceError(
    "DEVICE_LOST",
    "The browser of this device is gone. The next call starts it again; then go back to the page you need.",
  );
}

function networkFailure(text: string, attempt: Attempt): DeviceError | undefined {
  if (
    /ERR_BLOCKED_BY_CLIENT|ERR_ABORTED|NS_BINDING_ABORTED|Load request cancelled|interrupted by another navigation/.test(
      text,
    ) &&
    attempt.wasDenied()
  ) {
    return new DeviceError(
      "URL_DENIED",
      `${attempt.command} was refused: the URL policy denies the address or one that it redirects to. Use another address or change url_policy.`,
    );
  }
  if (/Download is starting/.test(text)) {
    return new DeviceError(
      "NAVIGATION_FAILED",
      "The address gives a download, not a page; it is reported as a notice. Open a page that links to it to test it.",
    );
  }
  const code = /net::(ERR_[A-Z_]+)|NS_(ERROR_[A-Z_]+)/.exec(text);
  if (code !== null) {
    const name = code[1] ?? code[0];
    const missing = unreachableReason(code[0]);
    if (missing !== undefined) return unreachable("The page could not be opened", missing, name);
    const reason = networkReasons[name] ?? name;
    return new DeviceError(
      "NAVIGATION_FAILED",
      `The page could not be opened: ${reason}. Check the address and that the site runs.`,
      { reason: name },
    );
  }
  if (/invalid URL|Invalid url/.test(text)) {
    return new DeviceError(
      "INVALID_PARAMS",
      "That is not an address. Give a full one such as https://example.org/path.",
    );
  }
  if (/interrupted by another navigation/.test(text)) {
    return new DeviceError(
      "NAVIGATION_FAILED",
      "Another navigation of the page took over. Look at the screen to see where it went.",
    );
  }
  return undefined;
}

function elementFailure(error: unknown, reason: string, attempt: Attempt): DeviceError | undefined {
  if (/strict mode violation/.test(reason)) {
    return new DeviceError(
      "ELEMENT_AMBIGUOUS",
      "More than one element matches by now. Use a ref of a new snapshot, or a more exact selector.",
    );
  }
  if (/Clicking the checkbox did not change its state/.test(reason)) {
    return new DeviceError(
      "INPUT_NOT_TAKEN",
      "The box is as it was: a click did not change it, or the page changed it back. Look at the screen for what the page says, or try click_element on what shows the box.",
    );
  }
  const wrongKind =
    /Error: (Element is not [^\n]*|Not a checkbox or radio button|Node is not [^\n]*|Input of type [^\n]*|Cannot type text into [^\n]*|Malformed value)/.exec(
      reason,
    );
  if (wrongKind !== null) {
    const isText = /^(Cannot type text|Malformed value)/.test(wrongKind[1] ?? "");
    return new DeviceError(
      isText ? "INPUT_NOT_TAKEN" : "COMMAND_UNSUITABLE",
      `${attempt.command} does not fit this element: ${wrongKind[1]}. Use a command that fits it; most widgets take click_element and type_text.`,
    );
  }
  const key = /Unknown key: "([^"]*)"/.exec(reason);
  if (key !== null)
    return new DeviceError(
      "INVALID_PARAMS",
      `There is no key "${key[1]}". Use names such as Enter, Escape, ArrowDown, a or Control+a.`,
    );
  if (!(error instanceof playwright().errors.TimeoutError)) return undefined;
  const text = messageOf(error);
  return obstacleOf(text, attempt) ?? timedOut(text, attempt);
}

function obstacleOf(text: string, attempt: Attempt): DeviceError | undefined {
  for (const line of text.split("\n").reverse()) {
    for (const { line: pattern, says, next } of obstacles) {
      const match = line.match(pattern);
      if (match === null) continue;
      const reason = says(match);
      const message = `The element is there, but ${reason}: ${attempt.command} was not possible for ${attempt.timeoutMs} ms. ${next}`;
      return new DeviceError("ELEMENT_NOT_ACTIONABLE", message, { reason });
    }
  }
  return undefined;
}

/** With less time left, Playwright does not find an element that is there. */
const LOOKED_FOR_MS = 100;

function timedOut(text: string, attempt: Attempt): DeviceError {
  if (/page\.(goto|reload|goBack|goForward)/.test(text)) {
    return new DeviceError(
      "NAVIGATION_FAILED",
      `The page was not usable within ${attempt.timeoutMs} ms; loading was stopped. Check that the site answers, or raise timeout_ms.`,
    );
  }
  const waitedMs = Number(/Timeout (\d+)ms exceeded/.exec(text)?.[1] ?? 0);
  const wasLookedFor = /waiting for (locator|get[A-Z])/.test(text) && !/resolved to/.test(text);
  if (wasLookedFor && waitedMs >= LOOKED_FOR_MS) {
    return new DeviceError(
      "ELEMENT_NOT_FOUND",
      `The element is not on the page (any more). Dump the screen and use a ref or selector from it.`,
    );
  }
  return new DeviceError(
    "COMMAND_TIMEOUT",
    `${attempt.command} did not end within ${attempt.timeoutMs} ms. Look at the screen, then retry with a larger timeout_ms.`,
  );
}

const closed = /has been closed|Target closed|Frame was detached/i;

/** Playwright's calls that only send an input, and the last line of its call log before it sends one. */
const sending =
  /^(?:mouse\.(?:click|down|up)|keyboard\.(?:press|down|up)):|performing \w+ action\s*$|elementHandle\.press\(.*\)\s*$/;

/** The input closed the tab or frame before the browser answered it. */
export function closedOnInput(error: unknown): boolean {
  return closed.test(reasonOf(error)) && sending.test(messageOf(error));
}

/** Playwright's timeout came after the input was sent and before it was answered. */
export function timedOutOnInput(error: unknown): boolean {
  return error instanceof playwright().errors.TimeoutError && sending.test(messageOf(error));
}

/** A DeviceError with one of these codes was thrown before the input. */
const codesBeforeInput: ReadonlySet<DeviceErrorCode> = new Set([
  ...["ACTION_REJECTED", "COMMAND_UNSUITABLE", "INVALID_PARAMS", "INVALID_SELECTOR", "PAGE_LOST"],
  ...["ELEMENT_AMBIGUOUS", "ELEMENT_NOT_ACTIONABLE", "ELEMENT_NOT_FOUND", "STALE_REF", "TAB_NOT_FOUND"],
  ...["PATH_DENIED", "UNSAFE_DISABLED", "URL_DENIED"],
] as const);

/** The last line of a call log before the input: Playwright still waited until the element could take it. */
const waiting =
  /(?:waiting (?:for|\d)|retrying|attempting|scrolling|intercepts pointer|is not (?:visible|enabled|stable|editable)|outside of the viewport|did not find)[^\n]*\s*$/;
/** The browser asked for the page and says what came of it. */
const isAnswered = /net::ERR_(?!BLOCKED_BY_CLIENT)|NS_ERROR_/;
const refusedAtOnce =
  /strict mode violation|Element is not|Not a checkbox|Node is not|Input of type|Cannot type text|Malformed value|Unknown key|invalid URL/i;

/** Whether a failed action had sent its input, by its code or by the end of Playwright's call log. */
export function dispatchedBy(error: unknown): Dispatched {
  if (error instanceof DeviceError)
    return error.dispatched ?? (codesBeforeInput.has(error.code) ? "no" : "unknown");
  const [text, reason] = [messageOf(error), reasonOf(error)];
  if (/performing \w+ action[^\n]*\n[^\n]*action done/.test(text) || isAnswered.test(reason)) return "yes";
  return refusedAtOnce.test(reason) || waiting.test(text) ? "no" : "unknown";
}

function closedFailure(text: string, attempt: Attempt): DeviceError | undefined {
  if (!closed.test(text) && !/Target crashed|Page crashed/i.test(text)) return undefined;
  return new DeviceError(
    "ACTION_REJECTED",
    `The tab or frame went away during ${attempt.command}. Look at the screen to see what is there now.`,
  );
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Playwright colours its call log.
  return text.replace(/\u001b\[\d+m/g, "");
}

/** Without Playwright's call log, which has the typed text: that may read like another error. */
const reasonOf = (error: unknown): string =>
  messageOf(error).split(/\n(?:Call log|Browser logs):|\n={5,}/, 1)[0] ?? "";

/** The reason without Playwright's method name, at most 300 characters. */
export function firstLines(error: unknown): string {
  const line = reasonOf(error)
    .replace(/^[a-zA-Z]+\.[a-zA-Z]+: (Error: )?/, "")
    .replace(/\s+/g, " ")
    .trim();
  return shorten(line.replace(/\.$/, ""), 300);
}

function shorten(text: string, length = 120): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
