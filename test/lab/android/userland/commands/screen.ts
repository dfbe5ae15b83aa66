import { FileError } from "../../labShell.ts";
import type { LabUi } from "../../labUi.ts";
import type { Command, CommandContext, System } from "../system.ts";
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
  const { ui, apiLevel } = context.system;
  // Which one comes first is not said.
  const isUnsure = displaysOf(ui).length > 1 && !options.has("-d") && apiLevel >= 33;
  if (isUnsure) await context.err(severalDisplays);
  const wanted = options.get("-d") ?? physicalDisplays[isUnsure ? 1 : 0];
  const display = physicalDisplays.findIndex((id, index) => id === wanted || String(index) === wanted);
  if (display < 0 || !displaysOf(ui).includes(display)) {
    return fail(context, `Display Id '${wanted}' is not valid.`);
  }
  const picture = await ui.picture(display);
  const isPng = options.has("-p") || path?.endsWith(".png") === true;
  const bytes = isPng ? await pngOf(picture) : rawOf(picture, apiLevel);
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

/** AOSP, screencap.cpp, as much as is read of it. */
const severalDisplays =
  '[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, however this default is not guaranteed to be consistent across captures. A display id should be specified.\nSee "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n';

/** Width, height, format and since Android 9 the colour space, then the pixels. */
function rawOf({ width, height, rgba }: Picture, apiLevel: number): Buffer {
  const words = [width, height, rgba8888, ...(apiLevel >= 28 ? [sRgb] : [])];
  const header = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => {
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
  const refusal = await writeDump(path, text, context);
  return refusal === undefined
    ? print(context, `UI hierchary dumped to: ${path}\n`)
    : fail(context, refusal, 0);
};

/** Why the file was not written; undefined where it was. */
async function writeDump(path: string, text: string, context: CommandContext): Promise<string | undefined> {
  if (path === "/dev/tty") {
    // Without a terminal it cannot be opened. The log says so, and the dump says that it was written.
    await context.out(context.hasTerminal ? text : "");
    return undefined;
  }
  try {
    context.system.files.store(path, Buffer.from(text));
    return undefined;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return `ERROR: ${path}: ${error.message}`;
  }
}

/** Counts down the dumps that find no root. */
function takeNullRoot({ ui }: System): string | undefined {
  if (ui.faults.nullRoots <= 0) return undefined;
  ui.faults.nullRoots -= 1;
  return "ERROR: null root node returned by UiTestAutomationBridge.";
}
