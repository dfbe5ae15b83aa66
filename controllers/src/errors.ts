/** What is known of a failure by its code alone. Verdicts, polling, navigation and the analysis of runs derive from it. */
export type CodeFacts = {
  /** The HTTP status a server answers with. */
  status: number;
  /** Who must mend it. `app` unless the code itself speaks against the lab or the test: the message may still do so. */
  fault: "lab" | "test" | "app";
  /**
   * What gives up at once because a repetition cannot help: a check that polls (`poll`), a navigation that could try
   * another way (`walk`), or both.
   */
  stops: "poll" | "walk" | "both" | "none";
};

/** Every way a controller can fail. Closed: the server joins it to its own list. */
export const deviceErrors = {
  ACTION_REJECTED: { status: 409, fault: "app", stops: "none" },
  ACTIVITY_MISSING: { status: 404, fault: "test", stops: "both" },
  ADB_MISSING: { status: 503, fault: "lab", stops: "both" },
  ADB_SERVER_DOWN: { status: 503, fault: "lab", stops: "both" },
  ADB_TOO_OLD: { status: 503, fault: "lab", stops: "both" },
  ADDON_INSTALL_FAILED: { status: 502, fault: "lab", stops: "both" },
  ADDON_MISSING: { status: 503, fault: "lab", stops: "both" },
  ADDON_UNUSABLE: { status: 500, fault: "lab", stops: "both" },
  APP_NOT_INSTALLED: { status: 404, fault: "lab", stops: "both" },
  APP_UNREACHABLE: { status: 502, fault: "lab", stops: "walk" },
  BROWSER_NOT_FOUND: { status: 503, fault: "lab", stops: "both" },
  BROWSER_UNUSABLE: { status: 503, fault: "lab", stops: "both" },
  CHROMEDRIVER_MISMATCH: { status: 409, fault: "lab", stops: "both" },
  COMMAND_TIMEOUT: { status: 504, fault: "app", stops: "none" },
  COMMAND_UNSUITABLE: { status: 409, fault: "test", stops: "both" },
  CONTEXT_NOT_FOUND: { status: 404, fault: "app", stops: "none" },
  CONTROLLER_UNAVAILABLE: { status: 503, fault: "lab", stops: "both" },
  DEVICE_AMBIGUOUS: { status: 409, fault: "test", stops: "both" },
  DEVICE_ERROR: { status: 500, fault: "lab", stops: "walk" },
  DEVICE_BUSY: { status: 409, fault: "lab", stops: "both" },
  DEVICE_LOST: { status: 503, fault: "lab", stops: "both" },
  DEVICE_NOT_FOUND: { status: 404, fault: "lab", stops: "both" },
  DEVICE_OFFLINE: { status: 503, fault: "lab", stops: "both" },
  DEVICE_UNAUTHORIZED: { status: 503, fault: "lab", stops: "both" },
  ELEMENT_AMBIGUOUS: { status: 409, fault: "test", stops: "both" },
  ELEMENT_NOT_ACTIONABLE: { status: 409, fault: "app", stops: "none" },
  ELEMENT_NOT_FOUND: { status: 404, fault: "app", stops: "none" },
  FENCE_OUTDATED: { status: 409, fault: "lab", stops: "both" },
  FOCUS_TRAPPED: { status: 409, fault: "app", stops: "none" },
  INPUT_NOT_TAKEN: { status: 409, fault: "app", stops: "none" },
  INSTALL_FAILED: { status: 409, fault: "lab", stops: "both" },
  INVALID_PARAMS: { status: 400, fault: "test", stops: "both" },
  INVALID_SELECTOR: { status: 400, fault: "test", stops: "both" },
  NAVIGATION_FAILED: { status: 502, fault: "app", stops: "none" },
  NOT_IDLE: { status: 504, fault: "lab", stops: "walk" },
  NO_DIALOG: { status: 409, fault: "app", stops: "none" },
  NO_SIGNAL: { status: 503, fault: "lab", stops: "walk" },
  PAGE_LOST: { status: 409, fault: "lab", stops: "walk" },
  PAGE_UNRESPONSIVE: { status: 504, fault: "lab", stops: "walk" },
  PATH_DENIED: { status: 403, fault: "test", stops: "both" },
  REFERENCE_NOT_FOUND: { status: 404, fault: "test", stops: "both" },
  SECRET_NOT_ALLOWED: { status: 403, fault: "test", stops: "both" },
  SECURE_SCREEN: { status: 409, fault: "lab", stops: "walk" },
  SPACE_MISMATCH: { status: 409, fault: "test", stops: "both" },
  STALE_REF: { status: 409, fault: "app", stops: "none" },
  STORAGE_FULL: { status: 507, fault: "lab", stops: "both" },
  TAB_NOT_FOUND: { status: 404, fault: "app", stops: "none" },
  TRANSPORT_LOST: { status: 503, fault: "lab", stops: "both" },
  TREE_EMPTY: { status: 503, fault: "lab", stops: "walk" },
  UIA_BUSY: { status: 409, fault: "lab", stops: "both" },
  UIA_CRASHED: { status: 503, fault: "lab", stops: "walk" },
  UIA_UNAVAILABLE: { status: 503, fault: "lab", stops: "both" },
  UNICODE_UNSUPPORTED: { status: 400, fault: "lab", stops: "both" },
  UNSAFE_DISABLED: { status: 403, fault: "test", stops: "both" },
  URL_DENIED: { status: 403, fault: "test", stops: "both" },
  WEBVIEW_NOT_DEBUGGABLE: { status: 409, fault: "lab", stops: "both" },
} as const satisfies Record<string, CodeFacts>;
export type DeviceErrorCode = keyof typeof deviceErrors;

/** Whether an input reached its device. `unknown`: it was sent, and the device did not confirm it. */
export type Dispatched = "no" | "yes" | "unknown";

/** Characters that steer a terminal or turn the direction of text. A device or server may have said them. */
const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A failure on a device. `message` ends with the next step to try; `details` holds candidates, never secrets. */
export class DeviceError extends Error {
  /** Set where the failure itself says whether the input was sent. */
  dispatched?: Dispatched;

  constructor(
    readonly code: DeviceErrorCode,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message.replace(steering, ""), options);
    this.name = "DeviceError";
  }
}
