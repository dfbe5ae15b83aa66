import { phoneOutputs } from "./outputs.ts";
import type { Persona } from "./persona.ts";
import { bootProperties, phoneFeatures, phonePackages, startSettings } from "./shared.ts";

export const phone: Persona = {
  apiLevel: 34,
  isTv: false,
  screen: { width: 1080, height: 2400, density: 420 },
  properties: {
    ...bootProperties,
    "ro.product.manufacturer": "Labwright",
    "ro.product.brand": "labwright",
    "ro.product.model": "Lab Phone",
    "ro.product.name": "labphone",
    "ro.product.device": "labphone",
    "ro.serialno": "LABPHONE1",
    "ro.build.version.sdk": "34",
    "ro.build.version.release": "14",
    "ro.build.version.codename": "REL",
    "ro.build.id": "UP1A.231005.007",
    "ro.build.fingerprint": "labwright/labphone/labphone:14/UP1A.231005.007/1:user/release-keys",
    "ro.build.characteristics": "nosdcard",
    "ro.sf.lcd_density": "420",
  },
  features: phoneFeatures,
  settings: startSettings,
  packages: phonePackages("14", 34),
  outputs: phoneOutputs,
};
