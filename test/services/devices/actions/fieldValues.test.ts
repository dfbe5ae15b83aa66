import { expect, test } from "vitest";
import { createActions } from "#mcp-server/services/devices/actions/index.ts";
import { createVerifications } from "#mcp-server/services/devices/verifications/index.ts";
import type { ScreenService } from "#mcp-server/services/index.ts";
import { systemClock } from "#mcp-server/services/records/clock.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { noArtifacts } from "../../../fixtures/noArtifacts.ts";
import { noInputs, testSecrets } from "../../../fixtures/simulated.ts";
import { openWebBox } from "../../../fixtures/webBox.ts";

const unused = () => Promise.reject(new Error("not in this test"));
const screen: ScreenService = {
  capture: unused,
  screenshot: unused,
  dump: unused,
  slowness: () => undefined,
  store: () => Promise.reject(new Error("not in this test")),
  changes: async () => undefined,
};
const secrets = testSecrets({ TOKEN: "sw0rdfish-long" });
const verifications = createVerifications({ clock: systemClock, secrets, screen, inputs: noInputs });
const actions = createActions({
  artifacts: noArtifacts,
  clock: systemClock,
  secrets,
  verifications,
  notices: createNotices(),
});
const signal = new AbortController().signal;

test("a text that a field did not take is shown next to what it holds, but no part of a secret", async () => {
  const box = await openWebBox("<label>Code <input maxlength=5></label><label>Day <input type=date></label>");
  const fill = async (selector: string, text: string) => {
    const batch = {
      actions: [{ command: "input_text", params: { selector, text } }],
      retry_actions: [],
      failure_actions: [],
    };
    return (await actions.run(box, batch, { signal })).results[0];
  };
  try {
    const cut = await fill("Code", "abcdefgh");
    expect(cut).toMatchObject({ ok: false, error: { code: "INPUT_NOT_TAKEN" } });
    expect(cut?.message).toMatch(/at most 5 characters.*It holds "abcde"; "abcdefgh" was asked for/);
    const day = await fill("Day", "31/12/2026");
    expect(day?.message).toMatch(
      /dates as 2026-11-30 or 11\/30\/2026.*It holds ""; "31\/12\/2026" was asked for/,
    );
    const secret = await fill("Code", "{{secret.TOKEN}}");
    expect(secret?.error?.code).toBe("INPUT_NOT_TAKEN");
    expect(JSON.stringify(secret)).not.toContain("sw0rd");
  } finally {
    await box.close();
  }
});
