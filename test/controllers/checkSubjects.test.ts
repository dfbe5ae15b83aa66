import { portable } from "@labwright/controllers";
import { simulatedFactory } from "@labwright/controllers/lab";
import { expect, it } from "vitest";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { iphone, startLabIos } from "../lab/ios/index.ts";
import { makePhone, openAndroid, opened } from "./android/openAndroid.ts";
import { openAppium } from "./appium/openAppium.ts";
import { type Params, portableRows, type SubjectRows, wrongVerdicts } from "./checkSubjects.ts";

const samples = "dev.labwright.samples";
const inApp = { package: samples };
const noApp = { package: "com.example.nowhere" };

it("the simulated box judges nothing that is not there or of the wrong kind", async () => {
  const { remote, run, close } = await opened(makePhone(simulatedFactory));
  await run("click_element", { selector: "Settings" });
  await run("click_element", { selector: "Parental lock" });
  const things = { checkbox: "Parental lock", field: "Device name", button: "Parental lock" };
  const rows: SubjectRows = {
    ...portableRows({ ...things, label: "role=heading", focused: "Parental lock" }),
    app_shown: { there: { app: "simulated.settings" }, absent: { app: "simulated.movies" }, presence: true },
  };
  const portableChecks = remote.checks.filter(({ name }) => Object.hasOwn(portable, name));
  expect(await wrongVerdicts(portableChecks, rows)).toEqual([]);
  await close();
});

/** Checks of a phone next to those of elements; `app` is open on it. */
const rowsOfApps = (app: Params): SubjectRows => ({
  app_shown: { there: { app }, absent: { app: noApp }, presence: true },
  app_installed: { there: app, absent: noApp, presence: true },
  app_running: { there: app, absent: noApp },
  orientation_is: { there: { orientation: "portrait" } },
  keyboard_shown: { absent: {}, presence: true },
  toast_seen: { absent: { text: "Nothing was said" }, presence: true },
});

it("a phone over adb judges nothing that is not there or of the wrong kind", async () => {
  const lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const phone = await openAndroid({ serial: lab.devices[0]?.serial, adb_port: lab.adbPort });
  try {
    await phone.run("open_app", { app: inApp });
    await phone.run("click_element", { selector: "Form" });
    await phone.run("click_element", { selector: "Send me news" });
    await phone.run("mark_logs");
    const things = { checkbox: "Send me news", field: "Comment", button: "Send", label: "Form" };
    const rows: SubjectRows = {
      ...portableRows(things),
      ...rowsOfApps(inApp),
      app_version: { there: { ...inApp, version: "1.2.0" }, absent: { ...noApp, version: "1.2.0" } },
      permission_granted: { absent: { ...noApp, permission: "CAMERA" } },
      start_up_time: { there: { at_most_ms: 600_000 } },
      memory_below: { there: { ...inApp, mb: 1_000_000 }, wrong: { ...noApp, mb: 1 } },
      media_playing: { absent: noApp },
      activity_is: { there: { activity: ".Form" } },
      setting_is: { absent: { namespace: "global", name: "nowhere", value: "1" } },
      log_contains: { absent: { text: "Nothing was said" }, presence: true },
      no_crash_since: { there: {} },
    };
    expect(await wrongVerdicts(phone.remote.checks, rows)).toEqual([]);
  } finally {
    await phone.close();
    await lab.close();
  }
});

it("a phone over Appium judges nothing that is not there or of the wrong kind", async () => {
  const lab = await startLabIos({ persona: iphone });
  const phone = await openAppium({ url: lab.url, capabilities: { platformName: "iOS" } });
  const shop = { package: "dev.labwright.shop" };
  try {
    await phone.run("open_app", { app: shop });
    await phone.run("click_element", { selector: "In stock only" });
    await phone.run("mark_logs");
    const things = { checkbox: "In stock only", field: "Search", button: "Sort", label: "0 in the cart" };
    const rows: SubjectRows = {
      ...portableRows(things),
      ...rowsOfApps(shop),
      log_contains: { absent: { text: "Nothing was said" }, presence: true },
      no_crash_since: { there: {} },
    };
    expect(await wrongVerdicts(phone.remote.checks, rows)).toEqual([]);
  } finally {
    await phone.close();
    await lab.close();
  }
});
