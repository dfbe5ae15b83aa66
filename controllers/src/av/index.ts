import { type ControllerFactory, type DriverController, defineFactory, type KindOffer } from "../factory.ts";
import { Capture } from "./capture.ts";
import { diagnoseAv } from "./diagnose.ts";
import { avSettingsSchema, claimsOf } from "./settings.ts";

/** The picture and sound of a TV or box: from a capture card, a camera, a stream or a display, read by ffmpeg. */
export const avFactory: ControllerFactory = defineFactory({
  name: "av",
  kinds: ["av"],
  settings: avSettingsSchema,
  offers: () => [avOffer],
  diagnose: diagnoseAv,
  claims: claimsOf,
  create: (settings, context) => [avController(new Capture(settings, context))],
});

/** What a capture offers. */
export const avOffer: KindOffer = { kind: "av", commands: [], checks: [] };

/** The controller of a capture. */
export function avController(capture: Capture): DriverController {
  const { stream, screen, recorder, isAlive, isKept, status, check, hasSound } = capture;
  return {
    ...{ kind: "av", commands: [], checks: [], screen, recorder, isAlive, isKept, status },
    frames: stream.frames(check),
    stream: stream.source(check, hasSound),
    findings: stream.findings,
    facts: () => capture.facts(),
    onStatus: (listener) => capture.onStatus(listener),
    open: (signal) => capture.open(signal),
    close: () => capture.close(),
    noticesAfter: () => [],
  };
}
