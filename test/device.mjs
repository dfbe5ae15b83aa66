// `ANDROID_SERIAL=… npm run test:device`: the tests that hold of every Android device, on the one that is named. They open its
// settings, turn it, change the size of its texts for a moment, and leave a file in its Download folder.
import { spawn } from "node:child_process";

const { ANDROID_SERIAL: serial, ANDROID_ADB_SERVER_PORT: port = "5037" } = process.env;
if (!serial) {
  process.stderr.write("Name the device as `adb devices` lists it: ANDROID_SERIAL=… npm run test:device\n");
  process.exit(2);
}
const child = spawn("npx", ["vitest", "run", "test/controllers/android/anyDevice.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, TEST_ANDROID_SERIAL: serial, TEST_ANDROID_ADB_PORT: port },
});
child.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
