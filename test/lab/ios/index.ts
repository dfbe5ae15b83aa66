import { type Clock, type LabUi, realClock } from "../android/labUi.ts";
import { createLabUi } from "../android/ui/labScreen.ts";
import { listen, stop } from "../webdriver/wire.ts";
import { type IosPersona, iphone } from "./capabilities.ts";
import { type Access, type Asked, type IosFaults, IosServer, type LabCloud } from "./server.ts";

export { appleTv, type IosPersona, iphone } from "./capabilities.ts";

export type LabIos = {
  readonly url: string;
  readonly ui: LabUi;
  readonly faults: IosFaults;
  readonly requests: readonly Asked[];
  readonly hasSession: boolean;
  endSession(): void;
  close(): Promise<void>;
};

/**
 * Starts a device with its WebDriver server on a free port of loopback. `access` is asked for as HTTP Basic has it; `cloud` has
 * it take the scripts of a cloud.
 */
export async function startLabIos({
  persona = iphone,
  clock = realClock,
  access,
  cloud,
}: {
  persona?: IosPersona;
  clock?: Clock;
  access?: Access;
  cloud?: LabCloud;
} = {}): Promise<LabIos> {
  const ui = createLabUi({ screen: persona.screen, isTv: persona.platformName === "tvOS", clock });
  const server = new IosServer({ ui, clock, persona, access, cloud });
  const { http, faults, requests } = server;
  const port = await listen(http);
  return {
    url: `http://127.0.0.1:${port}`,
    ui,
    faults,
    requests,
    get hasSession() {
      return server.session !== undefined;
    },
    endSession: () => server.endSession(),
    close: () => stop(http),
  };
}
