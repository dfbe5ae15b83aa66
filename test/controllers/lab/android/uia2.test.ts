import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { delayOf, documentedDelays } from "../../../lab/android/personas/delays.ts";
import { startUia2 } from "../../../lab/android/uia2/server.ts";
import { device, phoneScreen } from "./uiDevice.ts";

async function openSession(delayMs = (_request: string) => 0) {
  const phone = device(phoneScreen);
  const server = await startUia2(phone.ui, { clock: phone.clock, delayMs });
  onTestFinished(() => server.close());
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    return z.object({ value: z.unknown() }).parse(await response.json()).value;
  };
  const open = async () => {
    const capabilities = { firstMatch: [{}], alwaysMatch: {} };
    const value = await send("POST", "/session", { capabilities });
    return `/session/${z.object({ sessionId: z.string() }).parse(value).sessionId}`;
  };
  return { ...phone, server, send, open };
}

it("a request takes as long as is documented, by the device's clock", async () => {
  const { clock, server, send, open } = await openSession((request) =>
    delayOf(documentedDelays, `request ${request}`, 34),
  );
  const timeOf = async <T>(sending: Promise<T>) => {
    await expect.poll(() => clock.waiting).toBe(1);
    const answered = server.requests.length;
    for (let ms = 1; ; ms++) {
      clock.pass(1);
      if (clock.waiting > 0) continue;
      const value = await sending;
      expect(server.requests).toHaveLength(answered + 1);
      return { ms, value };
    }
  };
  const { ms, value: session } = await timeOf(open());
  expect(ms).toBe(30);
  expect(await timeOf(send("GET", `${session}/source`))).toMatchObject({ ms: 1_000 });
  const click = send("POST", `${session}/appium/gestures/click`, { offset: { x: 1, y: 1 } });
  expect(await timeOf(click)).toMatchObject({ ms: 100 });
});

it("the source has classes as tags, attributes in the server's order, and escaped texts", async () => {
  const { ui, node, send, open } = await openSession();
  ui.open("labsamples://text");
  const session = await open();
  const source = async () => z.string().parse(await send("GET", `${session}/source`));
  expect(await source()).toMatch(
    /^<\?xml version='1.0' encoding='UTF-8' standalone='yes' \?>\n<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2274">\n {2}<android.widget.FrameLayout index="0" package="dev.labwright.samples"/,
  );
  expect(await source()).toContain(
    `<android.widget.EditText index="1" package="dev.labwright.samples" class="android.widget.EditText" text="Note" resource-id="dev.labwright.samples:id/note" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="false" long-clickable="true" password="false" scrollable="false" selected="false" bounds="[0,162][1080,309]" displayed="true" hint="Note" showing-hint="true" />`,
  );
  ui.setText(node("note"), `<a & "b">\n'c' 👩‍🚀\u0007`);
  expect(await source()).toContain(`text="&lt;a &amp; &quot;b&quot;&gt;&#10;'c' 👩‍🚀?"`);
});
