import { openWebDevice } from "./webDevice.ts";

// Opens a browser on a page whose script never rests, says so, and waits to be killed.
const device = await openWebDevice();
await device.run("navigate_to_url", { url: process.argv[2] ?? "about:blank" });
device.run("click_element", { selector: "Spin" }).catch(() => undefined);
process.stdout.write("ready\n");
setInterval(() => undefined, 60_000);
