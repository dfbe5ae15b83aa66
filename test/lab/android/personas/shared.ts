import type { Persona, PersonaPackage } from "./persona.ts";

/** What every device says when it has started. */
export const bootProperties: Readonly<Record<string, string>> = {
  "dev.bootcomplete": "1",
  "sys.boot_completed": "1",
  "init.svc.bootanim": "stopped",
  "gsm.operator.alpha": "",
  "persist.sys.locale": "en-US",
  "persist.sys.timezone": "UTC",
  "ro.build.type": "user",
  "ro.build.tags": "release-keys",
  "ro.debuggable": "0",
  "ro.hardware": "lab",
  "ro.product.cpu.abi": "x86_64",
  "ro.product.cpu.abilist": "x86_64,arm64-v8a",
  "ro.product.locale": "en-US",
  "ro.secure": "1",
};

export const startSettings: Persona["settings"] = {
  system: { accelerometer_rotation: "1", font_scale: "1.0", screen_brightness: "102", user_rotation: "0" },
  secure: {
    android_id: "5c0ffee5c0ffee00",
    default_input_method: "com.android.inputmethod.latin/.LatinIME",
    enabled_input_methods: "com.android.inputmethod.latin/.LatinIME",
    location_mode: "3",
    show_ime_with_hard_keyboard: "0",
    ui_night_mode: "1",
  },
  global: {
    adb_enabled: "1",
    airplane_mode_on: "0",
    animator_duration_scale: "1.0",
    device_name: "Lab device",
    mobile_data: "1",
    transition_animation_scale: "1.0",
    wifi_on: "1",
    window_animation_scale: "1.0",
  },
};

export const phoneFeatures = [
  "android.hardware.bluetooth",
  "android.hardware.camera",
  "android.hardware.location.gps",
  "android.hardware.sensor.accelerometer",
  "android.hardware.telephony",
  "android.hardware.touchscreen",
  "android.hardware.touchscreen.multitouch",
  "android.hardware.wifi",
  "android.software.app_widgets",
  "android.software.input_methods",
  "android.software.webview",
];

export const tvFeatures = [
  "android.hardware.bluetooth",
  "android.hardware.ethernet",
  "android.hardware.type.television",
  "android.hardware.wifi",
  "android.software.input_methods",
  "android.software.leanback",
  "android.software.live_tv",
  "android.software.webview",
];

const system = (name: string, label: string, versionName: string, versionCode: number): PersonaPackage => ({
  name,
  label,
  versionName,
  versionCode,
  isSystem: true,
});

/** Apps of the system without a screen of their own. */
const systemPackages = (versionName: string, versionCode: number): PersonaPackage[] => [
  system("android", "Android System", versionName, versionCode),
  system("com.android.systemui", "System UI", versionName, versionCode),
  system("com.android.shell", "Shell", versionName, versionCode),
  system("com.android.providers.settings", "Settings Storage", versionName, versionCode),
  system("com.android.inputmethod.latin", "Android Keyboard (AOSP)", versionName, versionCode),
  system("com.android.permissioncontroller", "Permission controller", versionName, versionCode),
  system("com.android.packageinstaller", "Package installer", versionName, versionCode),
];

const samples: PersonaPackage = {
  name: "dev.labwright.samples",
  label: "Samples",
  versionName: "1.2.0",
  versionCode: 7,
  isSystem: false,
  permissions: ["android.permission.CAMERA"],
};

export const phonePackages = (versionName: string, versionCode: number): PersonaPackage[] => [
  ...systemPackages(versionName, versionCode),
  samples,
];
export const tvPackages = systemPackages;
