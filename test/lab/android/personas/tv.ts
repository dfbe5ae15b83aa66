import { tvOutputs } from "./outputs.ts";
import type { Persona } from "./persona.ts";
import { bootProperties, startSettings, tvFeatures, tvPackages } from "./shared.ts";

export const tv: Persona = {
  apiLevel: 33,
  isTv: true,
  screen: { width: 1920, height: 1080, density: 320 },
  properties: {
    ...bootProperties,
    "ro.product.manufacturer": "Labwright",
    "ro.product.brand": "labwright",
    "ro.product.model": "Lab TV",
    "ro.product.name": "labtv",
    "ro.product.device": "labtv",
    "ro.serialno": "LABTV1",
    "ro.build.version.sdk": "33",
    "ro.build.version.release": "13",
    "ro.build.version.codename": "REL",
    "ro.build.id": "TP1A.220624.014",
    "ro.build.fingerprint": "labwright/labtv/labtv:13/TP1A.220624.014/1:user/release-keys",
    "ro.build.characteristics": "tv,nosdcard",
    "ro.sf.lcd_density": "320",
  },
  features: tvFeatures,
  settings: startSettings,
  packages: tvPackages("13", 33),
  outputs: tvOutputs,
};
