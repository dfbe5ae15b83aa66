import { DeviceError } from "@labwright/controllers";
import { expect, it } from "vitest";
import { createPagePort } from "#controllers/appium/ui/webPages.ts";
import { never } from "../android/openAndroid.ts";

const lost = new DeviceError("TRANSPORT_LOST", "The connection broke.");

/** A session whose every call is noted; the one that `fails` names does not come back. */
function fakeSession(fails: (line: string) => boolean) {
  const lines: string[] = [];
  const call = async (command: string, args: readonly unknown[]): Promise<unknown> => {
    const line = `${command} ${args.join()}`.trim();
    lines.push(line);
    if (fails(line)) throw lost;
    return command === "getWindowHandles" ? ["one"] : { look: 1 };
  };
  const device = {
    call,
    alone: <T>(work: (own: typeof call) => Promise<T>) => work(call),
    giveUp: (problem: string) => void lines.push(`gave up: ${problem}`),
  };
  return { lines, port: createPagePort(device) };
}

it("the session is back at the screen when a page was read, and when it could not be", async () => {
  const whole = fakeSession(() => false);
  expect(await whole.port.read("WEBVIEW_a", "look", never)).toEqual([{ look: 1 }]);
  expect(whole.lines.at(-1)).toBe("switchAppiumContext NATIVE_APP");
  const broken = fakeSession((line) => line.startsWith("executeScript"));
  await expect(broken.port.read("WEBVIEW_a", "look", never)).rejects.toBe(lost);
  expect(broken.lines.at(-1)).toBe("switchAppiumContext NATIVE_APP");
});

it("a session that stays in the page is given up", async () => {
  const { port, lines } = fakeSession((line) => line === "switchAppiumContext NATIVE_APP");
  await expect(port.read("WEBVIEW_a", "look", never)).rejects.toBe(lost);
  expect(lines.at(-1)).toBe("gave up: its session stayed in the page of a WebView");
});
