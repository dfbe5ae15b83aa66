/** Every way a controller can fail, with the HTTP status a server answers with. Closed: the server joins it to its own list. */
export const deviceErrorStatus = {
  ACTION_REJECTED: 409,
  ADDON_INSTALL_FAILED: 502,
  ADDON_MISSING: 503,
  ADDON_UNUSABLE: 500,
  APP_UNREACHABLE: 502,
  BROWSER_NOT_FOUND: 503,
  BROWSER_UNUSABLE: 503,
  COMMAND_TIMEOUT: 504,
  CONTROLLER_UNAVAILABLE: 503,
  DEVICE_ERROR: 500,
  DEVICE_BUSY: 409,
  DEVICE_LOST: 503,
  ELEMENT_AMBIGUOUS: 409,
  ELEMENT_NOT_ACTIONABLE: 409,
  ELEMENT_NOT_FOUND: 404,
  FENCE_OUTDATED: 409,
  INPUT_NOT_TAKEN: 409,
  INVALID_PARAMS: 400,
  INVALID_SELECTOR: 400,
  NAVIGATION_FAILED: 502,
  NO_DIALOG: 409,
  PAGE_UNRESPONSIVE: 504,
  PATH_DENIED: 403,
  REFERENCE_NOT_FOUND: 404,
  SPACE_MISMATCH: 409,
  STALE_REF: 409,
  TAB_NOT_FOUND: 404,
  UNSAFE_DISABLED: 403,
  URL_DENIED: 403,
} as const;
export type DeviceErrorCode = keyof typeof deviceErrorStatus;

/** A failure on a device. `message` ends with the next step to try; `details` holds candidates, never secrets. */
export class DeviceError extends Error {
  constructor(
    readonly code: DeviceErrorCode,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "DeviceError";
  }
}
