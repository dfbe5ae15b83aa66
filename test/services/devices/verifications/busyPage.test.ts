import { DeviceError } from "@labwright/controllers";
import { expect, test } from "vitest";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { noInputs, testSecrets } from "../../../fixtures/simulated.ts";
import { openWebBox } from "../../../fixtures/webBox.ts";
import { noScreen } from "../parts.ts";

const signal = new AbortController().signal;
const refused = () => Promise.reject(new Error("no picture is taken of a page that does not answer"));
const screen = { ...noScreen, capture: refused };
const verifications = createVerifications({
  clock: systemClock,
  secrets: testSecrets(),
  screen,
  inputs: noInputs,
});
const loop = "const until = Date.now() + 60000; while (Date.now() < until);";

test("a check of a page in an endless loop ends at its own deadline, with how long the page has been busy", async () => {
  const box = await openWebBox(`<h1>Here</h1><script>setTimeout(() => { ${loop} }, 100)</script>`);
  try {
    const checks = [
      { command: "text_visible", params: { text: "not there" } },
      { command: "element_visible", params: { selector: "Nowhere" } },
    ];
    const check = verifications.check(box, checks, { passCondition: "all", timeoutMs: 3_000, signal });
    const failure = await check.catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "PAGE_UNRESPONSIVE",
      message: expect.stringMatching(/busy for \d+ ms/),
    });
    const busyMs = failure instanceof DeviceError ? failure.details.busy_ms : undefined;
    expect(busyMs).toBeGreaterThanOrEqual(1_500);
    expect(busyMs).toBeLessThan(60_000);
  } finally {
    await box.close();
  }
});
