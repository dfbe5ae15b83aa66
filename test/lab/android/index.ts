import { type Adbd, type Authorisation, startAdbd } from "./adbd/adbd.ts";
import type { Traffic } from "./adbd/traffic.ts";
import { type LabFaults, noFaults } from "./faults.ts";
import { type Clock, type LabUi, realClock } from "./labUi.ts";
import { type Delay, delayOf } from "./personas/delays.ts";
import type { Persona } from "./personas/persona.ts";
import { createLabUi } from "./ui/labScreen.ts";
import { startUia2, type Uia2Server } from "./uia2/server.ts";
import { crashAutomation } from "./userland/commands/instrument.ts";
import type { Instrumentation, System } from "./userland/system.ts";
import { createUserland } from "./userland/userland.ts";
import { ChromiumPage } from "./webview/page.ts";

export { connectToOwnServer, type OwnAdbServer, startOwnAdbServer } from "./adbServer.ts";
export { documentedDelays } from "./personas/delays.ts";
export type { Persona } from "./personas/persona.ts";
export { phone } from "./personas/phone.ts";
export { phone2 } from "./personas/phone2.ts";
export { readRecording } from "./personas/recorded.ts";
export { tv } from "./personas/tv.ts";

export type LabAndroidOptions = {
  persona: Persona;
  clock?: Clock;
  /** Who may connect; by default every host. */
  authorisation?: Authorisation;
  /** How long commands take; no time unless said. */
  delays?: readonly Delay[];
  /** The page of the WebView in the app `dev.labwright.samples` is one of this Chromium, a program's path, and starts when it is shown. */
  webView?: { chromium: string };
};

export type LabAndroid = {
  readonly persona: Persona;
  readonly ui: LabUi;
  readonly adbd: Adbd;
  readonly traffic: Traffic;
  readonly faults: LabFaults;
  readonly system: System;
  readonly uia2: Uia2Server | undefined;
  /** Something on the device listens on an endpoint, such as `tcp:8080`: what listens on this port of loopback. */
  listen(endpoint: string, port: number): void;
  /** The process that has UiAutomation dies. */
  crashInstrumentation(): void;
  close(): Promise<void>;
};

/** Where the UiAutomator2 server and its stream of pictures listen on a device. */
const uia2Endpoints = { http: "tcp:6790", mjpeg: "tcp:7810" };
const uia2Component = "io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner";

/** Starts a device on a free port of loopback. A reboot ends its connections and apps, and it is back at once. */
export async function startLabAndroid(options: LabAndroidOptions): Promise<LabAndroid> {
  const { persona, clock = realClock, authorisation, delays = [] } = options;
  const faults = noFaults();
  const endpointOf = (name: string) =>
    `localabstract:webview_devtools_remote_${system.processes.pidOf(name)}`;
  const opened = (name: string, port: number) => void system.endpoints.set(endpointOf(name), port);
  const page = options.webView && new ChromiumPage({ ...options.webView, faults, opened });
  const ui = createLabUi({ ...persona, clock, ...(page && { page }) });
  const instrumentation = uia2Of(ui, { persona, clock, delays });
  const reboot = () => {
    crashAutomation(system);
    for (const name of [...ui.running()]) ui.stop(name);
    ui.home();
    adbd.drop();
  };
  const instrument = (component: string) =>
    component === uia2Component ? instrumentation.start() : undefined;
  const { system, side } = createUserland({ persona, ui, clock, faults, delays, instrument, reboot });
  ui.onEvent((event) => {
    if (event.type !== "stopped" && event.type !== "crashed") return;
    if (system.endpoints.delete(endpointOf(event.packageName))) page?.appEnded();
  });
  const adbd = await startAdbd(side, faults, authorisation);
  return {
    persona,
    ui,
    adbd,
    traffic: adbd.traffic,
    faults,
    system,
    get uia2() {
      return instrumentation.running();
    },
    listen: (endpoint, port) => void system.endpoints.set(endpoint, port),
    crashInstrumentation: () => crashAutomation(system),
    async close() {
      crashAutomation(system);
      await adbd.close();
      await page?.close();
    },
  };
}

function uia2Of(
  ui: LabUi,
  { persona, clock, delays }: { persona: Persona; clock: Clock; delays: readonly Delay[] },
) {
  const { properties, apiLevel } = persona;
  let running: Uia2Server | undefined;
  const delayMs = (request: string) => delayOf(delays, `request ${request}`, apiLevel);
  const device = {
    manufacturer: properties["ro.product.manufacturer"] ?? "",
    model: properties["ro.product.model"] ?? "",
    brand: properties["ro.product.brand"] ?? "",
    apiVersion: String(apiLevel),
    platformVersion: properties["ro.build.version.release"] ?? "",
  };
  return {
    running: () => running,
    async start(): Promise<Instrumentation> {
      const server = await startUia2(ui, { clock, device, delayMs });
      running = server;
      void server.ended.then(() => {
        if (running === server) running = undefined;
      });
      const ports = new Map([
        [uia2Endpoints.http, server.httpPort],
        [uia2Endpoints.mjpeg, server.mjpegPort],
      ]);
      return { ports, ended: server.ended, close: server.close };
    },
  };
}
