import { z } from "zod";
import type { ControllerContext, InstalledAddons } from "../contract.ts";
import type { DiagnosisFinding } from "../diagnosis.ts";
import { type DriverController, defineFactory, judging, nowhere } from "../factory.ts";
import { imageChecks } from "./imageChecks.ts";

const imageController = (context: ControllerContext): DriverController =>
  judging({ kind: "verification_image", commands: [], checks: imageChecks(context) });

function diagnoseVision(addons: Pick<InstalledAddons, "state">): DiagnosisFinding {
  const what = "OpenCV for comparing pictures";
  const state = addons.state("vision");
  if (state === "installed") return { what, status: "ok", detail: "the add-on vision is installed" };
  const detail = `the add-on vision is ${state}; pictures are compared all the same, but about ten times slower`;
  return { what, status: "warning", detail, fix: "labwright setup vision" };
}

/** Judges the picture of a device by references that were saved: newest frame where the device sends frames, else a screenshot. */
export const imageFactory = defineFactory({
  name: "image",
  kinds: ["verification_image"],
  settings: z.strictObject({}),
  diagnose: async (_settings, { addons }) => [diagnoseVision(addons)],
  offers: () => [imageController(nowhere)],
  create: (_settings, context) => [imageController(context)],
});
