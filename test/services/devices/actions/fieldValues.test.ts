import { expect, test } from "vitest";
import { openWebBox } from "../../../fixtures/webBox.ts";
import { executorsOf } from "../parts.ts";

const { actions } = executorsOf({ TOKEN: "sw0rdfish-long" });
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
