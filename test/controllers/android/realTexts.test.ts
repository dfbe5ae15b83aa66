import { describe, expect, it } from "vitest";
import type { AndroidFacts } from "#controllers/android/facts.ts";
import { permissionsIn } from "#controllers/android/packages.ts";
import { batteryOf, locationOf, networkOf } from "#controllers/android/sensors.ts";
import { displayIn, keyboardIn, treeOf } from "#controllers/android/ui/screenFacts.ts";
import { scanScreen } from "#controllers/phones/androidTree.ts";
import { toScreen } from "#controllers/screens/screen.ts";

/** What real devices print, as far as it is read: each with where it was seen. */

const facts: AndroidFacts = {
  ...{ make: "", model: "", release: "", api: 34, isTv: false, density: 420 },
  screen: { width: 1080, height: 2092 },
};
const blank = { roots: [], rotation: 0 as const, isCut: false };

describe("the screen in front", () => {
  it("is that of the device's own display, also when another is listed first", () => {
    // Android 14 with a virtual display: MaaAssistantArknights, pull request 11516.
    const text = `  Display: mDisplayId=2
    init=500x500 100dpi mMinSizeOfResizeableTaskDp=220 cur=500x500 app=500x500 rng=500x500-500x500
  mCurrentFocus=Window{1e9 u0 com.example.cast/com.example.cast.Player}
  mFocusedApp=ActivityRecord{77f u0 com.example.cast/.Player t9}
  Display: mDisplayId=0 (organized)
    init=1080x2400 420dpi mMinSizeOfResizeableTaskDp=220 base=1080x2400 320dpi cur=2400x1080 app=2257x1080
  mCurrentFocus=Window{5c4 u0 com.example.shop/com.example.shop.Main}
  mFocusedApp=ActivityRecord{b3a u0 com.example.shop/.Main t82}
    mShowRequested=true mInputShown=true
`;
    expect(treeOf(blank, text, facts)).toMatchObject({
      ...{ app: "com.example.shop", location: "com.example.shop/.Main", isKeyboardShown: true },
      space: { width: 2400, height: 1080, rotation: 0 },
    });
  });

  it("is read from the focus of the windows until Android 9", () => {
    // Android 9: appium-desktop, issue 1250.
    const text = `  mCurrentFocus=Window{29b u0 com.example/com.example.Main}
  mFocusedApp=AppWindowToken{9b6 token=Token{5e5 ActivityRecord{97f u0 com.example/.Main t5}}}
  mInputShown=false
`;
    expect(treeOf(blank, text, facts)).toMatchObject({
      ...{ app: "com.example", location: "com.example/.Main", isKeyboardShown: false },
      space: { width: 1080, height: 2092, rotation: 0 },
    });
  });

  it("has the size of the display in its present fold", () => {
    const screen = scanScreen(
      '<hierarchy rotation="0"><node class="android.widget.Button" text="Far" clickable="true" bounds="[1800,100][2000,200]" /></hierarchy>',
    );
    expect(toScreen(treeOf(screen ?? blank, "", facts)).seen).toEqual([]);
    const open = toScreen(treeOf(screen ?? blank, "init=1080x2092 cur=2208x1840", facts));
    expect(open.seen.map(({ name }) => name)).toEqual(["Far"]);
    expect(open.space).toEqual({ width: 2208, height: 1840, rotation: 0 });
  });
});

describe("the device's own display", () => {
  it.each([
    [
      // Android 10: a bug report of a Xiaomi phone, in a public repository.
      "Android 10",
      `    mDisplayId=0
    mOverrideDisplayInfo=DisplayInfo{"Built-in, displayId 0", uniqueId "local:19260309953136513", app 1080 x 2029, real 1080 x 2248, largest app 2029 x 2029, mode 1, modes [{id=1, width=1080, height=2248, fps=60.000004}], colorMode 0, rotation 0, density 440 (403.411 x 402.107) dpi, layerStack 0, type BUILT_IN, state ON, removeMode 0}`,
      { width: 1080, height: 2248, rotation: 0, id: "19260309953136513" },
    ],
    [
      // Android 11: Genymobile/scrcpy, pull request 3416.
      "Android 11",
      `    mDisplayId=0
    mOverrideDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0, FLAG_SECURE, FLAG_TRUSTED, real 3120 x 1440, largest app 3120 x 3120, mode 2, modes [{id=1, width=1440, height=3120, fps=60.0}], minimalPostProcessingSupported false, rotation 1, state ON, type INTERNAL, uniqueId "local:19260779396743297", app 3120 x 1440, density 600}`,
      { width: 3120, height: 1440, rotation: 90, id: "19260779396743297" },
    ],
    [
      // A device with two screens and Android 13, of which the lower one is listed first here.
      "two screens",
      `    mDisplayId=4
    mOverrideDisplayInfo=DisplayInfo{"Bottom", displayId 4", real 1240 x 1080, rotation 3, state ON, uniqueId "local:222", installOrientation ROTATION_0}
    mDisplayId=0
    mOverrideDisplayInfo=DisplayInfo{"Top", displayId 0", displayGroupId 0, real 1920 x 1080, rotation 1, state ON, uniqueId "local:111", installOrientation ROTATION_0}`,
      { width: 1920, height: 1080, rotation: 90, id: "111" },
    ],
  ])("is read: %s", (_, text, display) => expect(displayIn(text)).toEqual(display));

  it("is unknown where the device says nothing of it", () => {
    expect(displayIn("")).toBeUndefined();
    expect(displayIn("    mDisplayId=0\n    mOverrideDisplayInfo=null")).toBeUndefined();
  });
});

it.each([
  [" mShowForced=false mInputShown=true\n  mIsInputViewShown=true mStatusIcon=0", true],
  // With keys of its own: appium-adb, pull request 56.
  [" mShowForced=false mInputShown=true\n  mIsInputViewShown=false mStatusIcon=0", false],
  // What was hidden by the app may still say that its view is shown.
  [" mShowForced=false mInputShown=false\n  mIsInputViewShown=true mStatusIcon=0", false],
  ["", undefined],
])("a keyboard: %j is %s", (text, isShown) => expect(keyboardIn(text)).toBe(isShown));

it("a TV without a battery has no level, whatever number it says", () => {
  // Android TV: JoinChrome, issue 105.
  expect(batteryOf("  present: true\n  level: -2147483648\n  scale: 100\n")).toEqual([]);
  expect(batteryOf("  present: true\n  level: 0\n  scale: 100\n  status: 3\n")).toMatchObject([
    { value: 0 },
    { value: false },
  ]);
});

describe("the network", () => {
  const type = (text: string) => networkOf(text).find(({ name }) => name === "network.type")?.value;

  it("is the active one of several", () => {
    // Android 14: the tests of okhttp for Android show these two on an emulator.
    const text = `Active default network: 101
  NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED extra: } lp{{InterfaceName: wlan0}} nc{[ Transports: WIFI Capabilities: INTERNET ]}}
  NetworkAgentInfo{network{101}  handle{437197393933}  ni{MOBILE[NR] CONNECTED extra: x} lp{{InterfaceName: eth0}} nc{[ Transports: CELLULAR Capabilities: INTERNET ]}}
`;
    expect(type(text)).toBe("cellular");
  });

  it("is written in another order until Android 10", () => {
    const text = `Active default network: 109
NetworkAgentInfo{ ni{[type: MOBILE[LTE], state: CONNECTED/CONNECTED, extra: ims]}  network{108}  nethandle{1}  nc{[ Transports: CELLULAR ]}
NetworkAgentInfo{ ni{[type: WIFI[], state: CONNECTED/CONNECTED]}  network{109}  nethandle{2}  lp{{InterfaceName: wlan0}}  nc{[ Transports: WIFI Capabilities: INTERNET ]}
`;
    expect(type(text)).toBe("wifi");
    expect(networkOf("Active default network: none\n")).toEqual([{ name: "network.online", value: false }]);
  });
});

describe("the place", () => {
  const place = (text: string) => locationOf(text).map(({ value }) => value);

  it("is listed by itself until Android 10, and the latest counts", () => {
    const text = `    network: Location[network 1.000000,2.000000 hAcc=900 et=+2d1h ]
    gps: Location[gps 24.713600,46.675300 hAcc=5 et=+2d1h2m3s456ms alt=1.0]
    passive: Location[network 1.000000,2.000000 hAcc=900 et=+59m9s ]
`;
    expect(place(text)).toEqual([24.7136, 46.6753]);
  });

  it("may have commas, and a device without one says null", () => {
    expect(
      place("  last location=Location[fused -26,107600,28,056800 hAcc=14,5 et=+3d2h alt=1560.0]"),
    ).toEqual([-26.1076, 28.0568]);
    expect(place("  last location=null")).toEqual([]);
  });
});

it("permissions with unusual names are read, and those after them", () => {
  const text = `    requested permissions:
      com.example.permission.PUSH-RECEIVE
      android.permission.WRITE_EXTERNAL_STORAGE: restricted=true
      android.permission.CAMERA
    install permissions:
      com.example.permission.PUSH-RECEIVE: granted=true
    User 0: ceDataInode=1 installed=true
      runtime permissions:
        android.permission.CAMERA: granted=true, flags=[ USER_SET]
`;
  expect(permissionsIn(text)).toEqual([
    { name: "com.example.permission.PUSH-RECEIVE", isGranted: true },
    { name: "android.permission.WRITE_EXTERNAL_STORAGE", isGranted: false },
    { name: "android.permission.CAMERA", isGranted: true },
  ]);
});
