// One session of Appium's UiAutomator2 driver as someone would write it down. It is run by its text in the folder of the
// add-on, so that the driver is found there; its only argument is the capabilities. It writes the tree of the screen and ends
// its session when its standard input ends.
import { once } from "node:events";

const [, argument] = process.argv;
const capabilities = JSON.parse(argument);
const driverPackage = "appium-uiautomator2-driver";
const { AndroidUiautomator2Driver } = await import(driverPackage);
const driver = new AndroidUiautomator2Driver();
driver.log.level = "silent";
const all = Object.entries(capabilities).map(([name, value]) => [`appium:${name}`, value]);
const alwaysMatch = { platformName: "Android", ...Object.fromEntries(all) };
await driver.createSession(null, null, { alwaysMatch, firstMatch: [{}] });
process.stdout.write(`${await driver.getPageSource()}\n`);
process.stdin.resume();
await once(process.stdin, "end");
await driver.deleteSession();
process.exit();
