/** Switches for what goes wrong on a device outside of its screen. They may be set at any time. */
export type LabFaults = {
  silent: boolean;
  forwardRefused: boolean;
  /** The connection ends in the middle of a stream, after the device has sent or received so many further bytes. */
  dropAfterBytes: number | undefined;
  /** Added to the delay of each command, by its program: `{ uiautomator: 2_500 }`. */
  extraDelayMs: Record<string, number>;
  storageFull: boolean;
  /** What every installation ends with, such as INSTALL_FAILED_UPDATE_INCOMPATIBLE. */
  installFailure: string | undefined;
  /** What `am start` says in place of starting an activity. */
  startFailure: string | undefined;
  /** The owner has a work profile or a secure folder, whose apps the shell may not list. */
  hasProfile: boolean;
  instrumentationRefused: boolean;
  /** The apps do not let their WebViews be debugged. */
  webViewsNotDebuggable: boolean;
  /** The version of Chrome that its WebViews say they are. */
  webViewVersion: string | undefined;
};

export const noFaults = (): LabFaults => ({
  silent: false,
  forwardRefused: false,
  dropAfterBytes: undefined,
  extraDelayMs: {},
  storageFull: false,
  installFailure: undefined,
  startFailure: undefined,
  hasProfile: false,
  instrumentationRefused: false,
  webViewsNotDebuggable: false,
  webViewVersion: undefined,
});
