import { phoneOutputs } from "./outputs.ts";
import type { Persona } from "./persona.ts";
import { bootProperties, phoneFeatures, phonePackages, startSettings } from "./shared.ts";

export const phone2: Persona = {
  apiLevel: 30,
  isTv: false,
  screen: { width: 720, height: 1280, density: 320 },
  properties: {
    ...bootProperties,
    "ro.product.manufacturer": "Labwright",
    "ro.product.brand": "labwright",
    "ro.product.model": "Lab Phone Mini",
    "ro.product.name": "labmini",
    "ro.product.device": "labmini",
    "ro.serialno": "LABMINI1",
    "ro.build.version.sdk": "30",
    "ro.build.version.release": "11",
    "ro.build.version.codename": "REL",
    "ro.build.id": "RP1A.200720.012",
    "ro.build.fingerprint": "labwright/labmini/labmini:11/RP1A.200720.012/1:user/release-keys",
    "ro.build.characteristics": "default",
    "ro.sf.lcd_density": "320",
  },
  features: phoneFeatures,
  settings: startSettings,
  packages: phonePackages("11", 30),
  outputs: phoneOutputs,
};
