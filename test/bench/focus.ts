import { makeAndroid, never } from "../controllers/android/openAndroid.ts";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { type WalkedTarget, walkTv } from "../fixtures/tvWalk.ts";
import type { Measurement } from "./rows.ts";

/** The focus of the laboratory's TV goes to 30 targets through the real adb server; one that is not reached has no presses. */
export async function measureFocus(note: (line: string) => void): Promise<Measurement[]> {
  const lab = await startAndroidLab({ devices: [{ persona: "tv" }] });
  try {
    return figures(await walk(lab), note);
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
  await tv.verification.open(never);
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

function figures(walked: readonly WalkedTarget[], note: (line: string) => void): Measurement[] {
  const reached = walked.filter(({ isReached }) => isReached);
  const longer = reached.filter(({ presses, fewest }) => presses > fewest);
  note(
    `focus: longer than the fewest presses: ${longer.map(({ target, presses, fewest }) => `${target} ${presses} (${fewest})`).join(", ") || "none"}`,
  );
  const sum = (of: (one: WalkedTarget) => number) => reached.reduce((all, one) => all + of(one), 0);
  return [
    { id: "focus.reached", ours: reached.length, runs: walked.length },
    {
      id: "focus.presses",
      ours: sum(({ presses }) => presses),
      theirs: sum(({ fewest }) => fewest),
      runs: reached.length,
    },
  ];
}
