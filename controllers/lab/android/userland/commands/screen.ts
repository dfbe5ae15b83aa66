import { FileError } from "../../labShell.ts";
import type { LabUi } from "../../labUi.ts";
import type { Command, System } from "../system.ts";
import { dumpXml } from "../windowDump.ts";
import { fail, print, readOptions } from "./reply.ts";

const rgba8888 = 1;
const sRgb = 1;
/** Numbers that displays have by themselves, which screencap wants; the index is the display's own. */
export const physicalDisplays = ["4619827259835644672", "4619827551948147201"] as const;

const pngs = new WeakMap<Uint8Array, Buffer>();

/** `screencap`: raw pixels with a header, or a PNG with -p or by the file's name. */
export const screencap: Command = async (args, context) => {
  const { options, rest } = readOptions(args, ["-d"]);
  const [path] = rest;
  const wanted = options.get("-d") ?? physicalDisplays[0];
  const display = physicalDisplays.findIndex((id, index) => id === wanted || String(index) === wanted);
  if (display < 0 || !displaysOf(context.system.ui).includes(display)) {
    return fail(context, `Display Id '${wanted}' is not valid.`);
  }
  const picture = await context.system.ui.picture(display);
  const isPng = options.has("-p") || path?.endsWith(".png") === true;
  const bytes = isPng ? await pngOf(picture) : rawOf(picture);
  if (path === undefined) return print(context, bytes);
  try {
    context.system.files.store(path, bytes);
    return 0;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(context, `Error opening file: ${path} (${error.message})`);
  }
};

export const displaysOf = ({ faults }: LabUi): number[] => (faults.secondDisplay ? [0, 1] : [0]);

type Picture = Awaited<ReturnType<LabUi["picture"]>>;

/** Width, height, format and colour space, then the pixels. */
function rawOf({ width, height, rgba }: Picture): Buffer {
  const header = Buffer.alloc(16);
  [width, height, rgba8888, sRgb].forEach((word, index) => {
    header.writeUInt32LE(word, index * 4);
  });
  return Buffer.concat([header, rgba]);
}

async function pngOf({ width, height, rgba }: Picture): Promise<Buffer> {
  const known = pngs.get(rgba);
  if (known) return known;
  const { default: sharp } = await import("sharp");
  const png = await sharp(rgba, { raw: { width, height, channels: 4 } })
    .png({ compressionLevel: 3 })
    .toBuffer();
  pngs.set(rgba, png);
  return png;
}

const killed = 137;
const defaultPath = "/sdcard/window_dump.xml";

/** `uiautomator dump`: the tree of the window in front, unless something else has UiAutomation. */
export const uiautomator: Command = async (args, context) => {
  const { system } = context;
  const { rest } = readOptions(args);
  const [action, path = defaultPath] = rest;
  if (action !== "dump") return fail(context, "Usage: uiautomator <subcommand> [options]");
  if (system.automation.size > 0) return fail(context, "Killed ", killed);
  const isBusy = !system.ui.isIdle();
  await system.delay(`uiautomator dump${isBusy ? " (busy)" : ""}`, context.signal);
  if (isBusy) return fail(context, "ERROR: could not get idle state.", 0);
  await system.ui.settle();
  const problem = takeNullRoot(system);
  if (problem !== undefined) return fail(context, problem, 0);
  const text = dumpXml(system.ui, system.apiLevel, { allWindows: args.includes("--windows") });
  if (path === "/dev/tty") await context.out(text);
  else {
    try {
      system.files.store(path, Buffer.from(text));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return fail(context, `ERROR: ${path}: ${error.message}`, 0);
    }
  }
  return print(context, `UI hierchary dumped to: ${path}\n`);
};

/** Counts down the dumps that find no root. */
function takeNullRoot({ ui }: System): string | undefined {
  if (ui.faults.nullRoots <= 0) return undefined;
  ui.faults.nullRoots -= 1;
  return "ERROR: null root node returned by UiTestAutomationBridge.";
}
