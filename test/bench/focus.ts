import { makeAndroid, never } from "../controllers/android/openAndroid.ts";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { type WalkedTarget, walkTv } from "../fixtures/tvWalk.ts";
import type { Measurement } from "./rows.ts";

/** Moves the focus of the simulated TV to 30 targets through the real adb server. */
export async function measureFocus(note: (line: string) => void): Promise<Measurement[]> {
  const lab = await startAndroidLab({ devices: [{ persona: "tv" }] });
  try {
    const walked = await walk(lab);
    const missed = walked.filter(({ isReached }) => !isReached);
    note(`focus: not reached: ${missed.map(({ target }) => target).join(", ") || "none"}`);
    return [{ id: "focus.reached", ours: walked.length - missed.length, runs: walked.length }];
  } finally {
    await lab.close();
  }
}

async function walk({
  devices,
  adbPort,
}: Awaited<ReturnType<typeof startAndroidLab>>): Promise<WalkedTarget[]> {
  const [first] = devices;
  if (!first) throw new Error("The laboratory has no TV.");
  const { ui } = first.device;
  const codes: number[] = [];
  const key = ui.key.bind(ui);
  ui.key = (code, options) => {
    codes.push(code);
    key(code, options);
  };
  const tv = makeAndroid({ serial: first.serial, adb_port: adbPort });
  await tv.remote.open(never);
  try {
    return await walkTv({
      home: () => ui.home(),
      start: (target) => ui.start(target),
      async move(selector) {
        codes.length = 0;
        await tv.run("move_focus_to", { selector, timeout_ms: 1 }).catch(() => undefined);
        return [...codes];
      },
      isFocused: async (selector) => (await tv.read("element_focused", { selector })).holds,
    });
  } finally {
    await tv.close();
  }
}
