import type { Dump, Element, ElementSource, Frame, TextNews, Usable } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type {
  ActionAnalysis,
  AnalysisOptions,
  ArtifactRef,
  ArtifactStore,
  Clock,
  DeviceService,
  DumpOptions,
  DumpView,
  OpenDevice,
  ScreenAnalyst,
  ScreenService,
  Shot,
  ShotOptions,
} from "../../ports.ts";
import { estimateTokens } from "../../values/tokens.ts";
import { commandsOf } from "../findCommand.ts";
import { findPort, getPort } from "../portOf.ts";
import { viewOf } from "./analysis.ts";
import { compareDumps, isAllNew } from "./compare.ts";
import { findElements } from "./find.ts";
import { rankCandidates, readIntent } from "./intent.ts";
import { drawMarks, StepPictures, scaleFrame } from "./pictures.ts";
import { quote, renderElements } from "./render.ts";

/** How many of a caller's snapshots `changes_since` reaches back. */
const keptLooks = 2;
/** Snapshots of a device are kept for so many callers; those of the caller that looked longest ago go first. */
const keptCallers = 16;
/** The text changes of so many snapshots of a device are kept. */
const keptNews = 32;
/** Elements that a full dump gives selectors for: each costs a question to the page. */
const mostItems = 200;
const mostCandidates = 5;
const longestSide = 1_280;
const defaultTokens = 2_000;
const defaultFindTokens = 150;
/** What a reply's own keys cost, and what is left for elements however long the address is. */
const frameTokens = 20;
const leastTokens = 40;

type Snapshot = { dump: Dump; interactiveOnly: boolean };

export function createScreen(
  artifacts: ArtifactStore,
  clock: Pick<Clock, "monotonic">,
  devices?: Pick<DeviceService, "onFreshStart">,
): ScreenService & ScreenAnalyst {
  const screen = new Screen(artifacts, clock);
  devices?.onFreshStart((deviceId) => screen.startFresh(deviceId));
  return screen;
}

class Screen implements ScreenService, ScreenAnalyst {
  /** By device and caller: each caller hears what changed since its own last snapshot. */
  private readonly snapshots = new Map<string, Map<string, Snapshot[]>>();
  /** By device: the text changes of its latest snapshots. */
  private readonly news = new Map<string, { generation: number; texts: TextNews }[]>();
  private readonly artifacts: ArtifactStore;
  private readonly stepPictures: StepPictures;

  constructor(artifacts: ArtifactStore, clock: Pick<Clock, "monotonic">) {
    this.artifacts = artifacts;
    this.stepPictures = new StepPictures(clock);
  }

  /** The former snapshots are compared with again when the returned function is called. */
  startFresh(deviceId: string): () => void {
    const snapshots = this.snapshots.get(deviceId) ?? new Map<string, Snapshot[]>();
    this.snapshots.delete(deviceId);
    return () => void this.snapshots.set(deviceId, snapshots);
  }

  async capture(device: OpenDevice, signal: AbortSignal) {
    const frame = await span("screen.capture", { device: device.id }, () =>
      this.stepPictures.take(device, signal),
    );
    return frame && { frame, artifact: await this.store(frame) };
  }

  slowness(deviceId: string): string | undefined {
    return this.stepPictures.slowness(deviceId);
  }

  async screenshot(device: OpenDevice, options: ShotOptions, signal: AbortSignal): Promise<Shot> {
    const source = await getPort(device, "screen", signal);
    const { full_page: fullPage, area, ref, marks } = options;
    const wanted = { fullPage, highlight: true, ...(area && { area }), ...(ref !== undefined && { ref }) };
    const frame = await source.capture(wanted, signal);
    const marked = marks ? await this.mark(device, frame, options, signal) : frame.bytes;
    const artifact = await this.store({ ...frame, bytes: marked });
    const shown = await scaleFrame(marked, longestSide);
    const { width, height, mimeType } = frame;
    return { artifact: artifact.uri, mimeType, shown, width, height };
  }

  async dump(device: OpenDevice, options: DumpOptions, signal: AbortSignal): Promise<DumpView> {
    const source = await getPort(device, "elements", signal);
    const maxTokens = options.max_tokens ?? (options.find === undefined ? defaultTokens : defaultFindTokens);
    const before =
      options.changes_since === undefined
        ? undefined
        : this.lookOf(device, options.caller, options.changes_since);
    // A search reads everything; a comparison reads what the first snapshot did.
    const interactiveOnly =
      before?.interactiveOnly ?? (options.interactive_only && options.find === undefined);
    const dump = await this.look(device, source, { interactiveOnly, caller: options.caller }, signal);
    const notices = [...dump.notices, ...unreadNote(dump, before?.dump), ...(options.notices?.() ?? [])];
    const view = {
      generation: dump.generation,
      location: dump.location,
      title: dump.title,
      ...(notices.length > 0 && { notices }),
    };
    const room = Math.max(leastTokens, maxTokens - estimateTokens(JSON.stringify(view)) - frameTokens);
    if (before) {
      const news = this.newsSince(device, before.dump);
      const { text, more } = compareDumps(before.dump, dump, room, { news });
      return { ...view, elements: text, more };
    }
    const listed = options.find === undefined ? dump.elements : findElements(dump.elements, options.find);
    const { text, shown, more } = renderElements(listed, { maxTokens: room });
    if (options.detail === "compact") return { ...view, elements: text || textsOnly(dump), more };
    return { ...view, elements: "", more, items: await itemsOf(source, listed.slice(0, shown), signal) };
  }

  async analyze(
    device: OpenDevice,
    { intent, max_tokens: maxTokens, caller }: AnalysisOptions,
    signal: AbortSignal,
  ): Promise<ActionAnalysis> {
    const source = await getPort(device, "elements", signal);
    const dump = await this.look(device, source, { interactiveOnly: false, caller }, signal);
    const commands = new Set(commandsOf(device).map(({ command }) => command.name));
    const ranked = rankCandidates(dump.elements, readIntent(intent), commands);
    const fits = ranked.fits.slice(0, mostCandidates);
    const selectors = await source.selectors(
      fits.map(({ element }) => element.ref),
      signal,
    );
    return viewOf(dump, ranked, selectors, maxTokens);
  }

  async changes(
    device: OpenDevice,
    { maxTokens, usable, caller }: { maxTokens: number; usable?: Usable | undefined; caller?: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const source = await findPort(device, "elements", signal);
    if (!source) return undefined;
    const goingOn = usable?.goingOn.length ? [`still going on: ${usable.goingOn.join(", ")}`] : [];
    if (usable?.isHidden) return [...goingOn, "not looked at: another screen is on its way"].join("\n");
    const before = this.snapshotsOf(device, caller).at(-1);
    const { dump, isSame } = await this.lookAgain(device, source, { before, caller }, signal);
    const notices = [...dump.notices, ...unreadNote(dump, isSame ? before?.dump : undefined)];
    const head = [placeOf(dump, before?.dump), ...notices.map((notice) => `notice: ${notice}`)];
    const { text, more } =
      before && isSame
        ? compareDumps(before.dump, dump, maxTokens, {
            ...(usable && { watchedMs: usable.watchedMs }),
            news: this.newsSince(device, before.dump),
          })
        : renderElements(dump.elements, { maxTokens });
    const rest = more > 0 ? [`${more} more: dump_ui_elements`] : [];
    return [...head, text || textsOnly(dump) || "no elements", ...rest, ...goingOn].join("\n");
  }

  /** As the caller looked before. Only the same page is listed whole again; another one is listed in short. */
  private async lookAgain(
    device: OpenDevice,
    source: ElementSource,
    { before, caller }: { before: Snapshot | undefined; caller: string | undefined },
    signal: AbortSignal,
  ): Promise<{ dump: Dump; isSame: boolean }> {
    const interactiveOnly = before?.interactiveOnly ?? true;
    const dump = await this.look(device, source, { interactiveOnly, caller }, signal);
    const isSame =
      before !== undefined &&
      pageOf(before.dump.location) === pageOf(dump.location) &&
      !isAllNew(before.dump.elements, dump.elements);
    if (isSame || interactiveOnly) return { dump, isSame };
    return { dump: await this.look(device, source, { interactiveOnly: true, caller }, signal), isSame };
  }

  /** The text changes in all snapshots of a device after `before`, of any caller. */
  private newsSince(device: OpenDevice, before: Dump): TextNews[] {
    const kept = this.news.get(device.id) ?? [];
    return kept.flatMap(({ generation, texts }) => (generation > before.generation ? [texts] : []));
  }

  private async look(
    device: OpenDevice,
    source: ElementSource,
    { interactiveOnly, caller = "" }: { interactiveOnly: boolean; caller?: string | undefined },
    signal: AbortSignal,
  ) {
    const dump = await span("screen.dump", { device: device.id }, () =>
      source.dump({ interactiveOnly }, signal),
    );
    if (dump.texts) {
      const { generation, texts } = dump;
      const news = [...(this.news.get(device.id) ?? []), { generation, texts }];
      this.news.set(device.id, news.slice(-keptNews));
    }
    const kept = [...this.snapshotsOf(device, caller), { dump, interactiveOnly }].slice(-keptLooks);
    const callers = this.snapshots.get(device.id) ?? new Map<string, Snapshot[]>();
    callers.delete(caller);
    callers.set(caller, kept);
    const [oldest] = callers.keys();
    if (callers.size > keptCallers && oldest !== undefined) callers.delete(oldest);
    this.snapshots.set(device.id, callers);
    return dump;
  }

  private snapshotsOf(device: OpenDevice, caller = ""): readonly Snapshot[] {
    return this.snapshots.get(device.id)?.get(caller) ?? [];
  }

  private lookOf(device: OpenDevice, caller: string | undefined, generation: number): Snapshot {
    const snapshots = this.snapshotsOf(device, caller);
    const found = snapshots.find(({ dump }) => dump.generation === generation);
    if (found) return found;
    const kept = snapshots.map(({ dump }) => dump.generation);
    throw new ToolError(
      "STALE_REF",
      `Generation ${generation} is no longer kept; the last are ${kept.join(", ") || "none"}.`,
      "Dump without changes_since.",
      { kept },
    );
  }

  private async mark(device: OpenDevice, frame: Frame, options: ShotOptions, signal: AbortSignal) {
    if (options.full_page || options.area || options.ref !== undefined) {
      throw new ToolError(
        "INVALID_INPUT",
        "Marks are drawn on the whole visible screen only.",
        "Leave out full_page, area and ref, or marks.",
      );
    }
    const source = await getPort(device, "elements", signal);
    const snapshot = { interactiveOnly: true, caller: options.caller };
    return drawMarks(frame, await this.look(device, source, snapshot, signal));
  }

  store(frame: Frame): Promise<ArtifactRef> {
    return this.artifacts.put(frame.bytes, frame.mimeType);
  }
}

/** Where one is; the address and the title only where they changed since the snapshot before. */
function placeOf({ location, title, generation }: Dump, before: Dump | undefined): string {
  const isSame = before?.location === location && before.title === title;
  return isSame ? `generation ${generation}` : `${location} "${title}" generation ${generation}`;
}

/** What is shown and cannot be read, unless the snapshot before has said so. */
function unreadNote({ unread = [] }: Dump, before: Dump | undefined): string[] {
  const said = unread.join(", ");
  return said === "" || said === before?.unread?.join(", ") ? [] : [`Shown, but not read: ${said}`];
}

/** What there is to read on a page that has nothing to act on; empty where that is nothing, too. */
function textsOnly({ elements, texts, others = [] }: Dump): string {
  const said = (texts?.first ?? others).map(({ name, text }) => quote(name || (text ?? ""), 60));
  return elements.length > 0 || said.length === 0 ? "" : `no elements; texts: ${said.slice(0, 6).join(" ")}`;
}

const pageOf = (location: string) => location.split("#", 1)[0];

async function itemsOf(source: ElementSource, elements: readonly Element[], signal: AbortSignal) {
  const listed = elements.slice(0, mostItems);
  const selectors = await source.selectors(
    listed.map(({ ref }) => ref),
    signal,
  );
  return listed.map((element, index) => ({ ...element, selectors: [...(selectors[index] ?? [])] }));
}
