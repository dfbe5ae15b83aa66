import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { run, temporaryFolder } from "../../cli/fixtures.ts";
import { startOneKvm } from "../../lab/tv/power/oneKvm.ts";
import { plugLogin, startPlug } from "../../lab/tv/power/plug.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const [project, data] = [temporaryFolder(), temporaryFolder()];
const env = { LABWRIGHT_DATA_DIR: data.path };
afterAll(async () => {
  await run(["stop"], { env });
  project.remove();
  data.remove();
});

it("a test of a box cycles its plug, waits for the picture of One-KVM to be back, and presses a key", async () => {
  const plug = await startPlug("tasmota");
  const { kvm, url, close } = await startOneKvm({ isFed: () => plug.isOn });
  const { password } = plugLogin;
  const controllers = { tasmota: { url: plug.url, password }, one_kvm: { url, password } };
  const config = { devices: [{ name: "box", model: "stb", controllers }] };
  writeFileSync(join(data.path, "labwright.yaml"), JSON.stringify(config));
  mkdirSync(join(project.path, "labwright", "apps"), { recursive: true });
  writeFileSync(
    join(project.path, "labwright", "apps", "box.yaml"),
    `name: box
models: [stb]
tests:
  - name: the box is back after a power cut
    steps:
      - power_is: { state: "on" }
      - { power_cycle: { off_ms: 2000, timeout_ms: 30000 }, into: cycle }
      - condition: cycle.picture_ms > 0 && cycle.error_ms > 0
      - power_is: { state: "on" }
      - press OK
`,
  );
  try {
    const ran = await run(["run"], { env, cwd: project.path });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0, out: expect.stringMatching(/1 passed/) });
    expect(kvm.keys).toEqual(["01002800", "01012800"]);
    // The plug was cycled, and not the power button of the other driver.
    expect([plug.isOn, kvm.presses]).toEqual([true, []]);
  } finally {
    await plug.close();
    await close();
  }
});
