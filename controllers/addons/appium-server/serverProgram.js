import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// An Appium server for Android devices: `node serverProgram.js --address 127.0.0.1 --port 4723`, with Appium's own options.

/** The drivers that are installed with it are found by the folder that it runs in. */
process.chdir(dirname(fileURLToPath(import.meta.url)));
process.env.ANDROID_HOME ??= androidHome();
createRequire(import.meta.url)("appium").main();

/** A folder in which adb lies as in an Android SDK, which the driver wants. */
function androidHome() {
  const name = process.platform === "win32" ? "adb.exe" : "adb";
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const adb = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (adb === undefined) throw new Error("There is no program adb on the PATH.");
  const home = mkdtempSync(join(tmpdir(), "labwright-android-home-"));
  process.once("exit", () => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "platform-tools"));
  symlinkSync(adb, join(home, "platform-tools", name));
  return home;
}
