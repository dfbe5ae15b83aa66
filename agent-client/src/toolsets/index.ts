import {
  BetaAbstractBrowserToolset20260801,
  BetaAbstractComputerToolset20260801,
  type BetaRunnableToolset,
  type BetaToolsetCallContext as Context,
} from "@anthropic-ai/sdk/helpers/beta/toolsets";
import type * as Input from "@anthropic-ai/sdk/resources/beta";
import type { ToolSpec } from "../ports.ts";
import type { Settings } from "../settings.ts";
import {
  clickAt,
  dragBetween,
  idOf,
  type Point,
  pressKeys,
  scrollAt,
  waitFor,
  withoutHeld,
} from "./input.ts";
import { type CallTool, type DrivenDevice, DrivenScreen, type Page, refuse } from "./screen.ts";

export { acts, type CallTool, type DrivenDevice, readingMembers, screenTools } from "./screen.ts";

export type Toolset = {
  kind: Exclude<Settings["toolsets"], "off">;
  device: DrivenDevice;
  /** Tools that only it calls; the others are the skill's own. */
  specs: readonly ToolSpec[];
};

/** Anthropic's toolset over the server's tools: its members are those that a class here has. */
export const openToolset = ({ kind, device }: Toolset, call: CallTool): BetaRunnableToolset =>
  kind === "browser" ? new BrowserToolset(device, call) : new ComputerToolset(device, call);

/** A toolset as a request names it: the same for every device, so that a conversation's beginning stays. */
export const entryOf = (kind: Toolset["kind"]) => {
  const device: DrivenDevice = { isWeb: kind === "browser" };
  const none = async () => refuse("this toolset is only described");
  const toolset = kind === "browser" ? new BrowserToolset(device, none) : new ComputerToolset(device, none);
  return toolset.toJSON();
};

type Target = Input.BetaBrowserClickTarget;
/** What a click of each kind is for an element of `read_page`. */
const elementClicks = {
  left: "click_element",
  right: "right_click",
  double: "double_click",
  triple: "triple_click",
  hover: "hover_element",
} as const;
const buttons = { left: "left", right: "right", double: "left", triple: "left" } as const;
const clickCounts = { left: 1, right: 1, double: 2, triple: 3 } as const;

class BrowserToolset extends BetaAbstractBrowserToolset20260801 {
  readonly #screen: DrivenScreen;

  constructor(device: DrivenDevice, call: CallTool) {
    const screen = new DrivenScreen({ ...device, isWeb: true }, call);
    super({
      browserState: () => ({ tabs: (screen.page?.tabs ?? []).map(toTab) }),
      // Approval is asked for where the server's tool is called. What is left: whether a call means the tab in front.
      confirm({ member, input }) {
        const tab = "tab_id" in input ? input.tab_id : undefined;
        const front = screen.page?.tabs.find(({ current }) => current)?.tab;
        if (member !== "switch_tab" && tab != null && front !== undefined && tab !== String(front))
          refuse(`INVALID_PARAMS: tab ${front} is the active one. Call switch_tab first.`);
        return true;
      },
    });
    this.#screen = screen;
  }

  protected override async navigate(ctx: Context, { url }: Input.BetaBrowserNavigateInput) {
    const history: Readonly<Record<string, string>> = {
      ...{ back: "go_back", forward: "go_forward", reload: "reload" },
    };
    const command = history[url];
    const action = command ? { command } : { command: "navigate_to_url", params: { url } };
    await this.#screen.act(idOf(ctx), action);
    const { page } = this.#screen;
    return { url: page?.url ?? url, ...(page?.title && { title: page.title }) };
  }
  protected override screenshot(ctx: Context) {
    return this.#screen.picture(idOf(ctx));
  }
  protected override zoom(ctx: Context, { region }: Input.BetaBrowserZoomInput) {
    return this.#screen.zoom(idOf(ctx), region);
  }
  protected override left_click(ctx: Context, { target, modifiers }: Input.BetaBrowserLeftClickInput) {
    return this.#click(ctx, "left", target, modifiers);
  }
  protected override right_click(ctx: Context, { target, modifiers }: Input.BetaBrowserRightClickInput) {
    return this.#click(ctx, "right", target, modifiers);
  }
  protected override double_click(ctx: Context, { target, modifiers }: Input.BetaBrowserDoubleClickInput) {
    return this.#click(ctx, "double", target, modifiers);
  }
  protected override triple_click(ctx: Context, { target, modifiers }: Input.BetaBrowserTripleClickInput) {
    return this.#click(ctx, "triple", target, modifiers);
  }
  protected override hover(ctx: Context, { target }: Input.BetaBrowserHoverInput) {
    if (target.type === "ref") return this.#onElement(ctx, elementClicks.hover, target.ref);
    return this.#screen.act(idOf(ctx), { command: "mouse_move", params: this.#screen.point(target) });
  }
  protected override left_click_drag(ctx: Context, { from, target }: Input.BetaBrowserLeftClickDragInput) {
    return this.#screen.act(idOf(ctx), ...dragBetween(this.#screen, from, target));
  }
  protected override scroll(
    ctx: Context,
    { target, scroll_direction: way, scroll_amount: notches }: Input.BetaBrowserScrollInput,
  ) {
    return this.#screen.act(idOf(ctx), ...scrollAt(this.#screen, target, { way, notches: notches ?? 3 }));
  }
  protected override scroll_to(ctx: Context, { target }: Input.BetaBrowserScrollToInput) {
    return this.#onElement(ctx, "scroll_to_element", target.ref);
  }
  protected override type_(ctx: Context, { text }: Input.BetaBrowserTypeInput) {
    return this.#screen.act(idOf(ctx), { command: "type_text", params: { text } });
  }
  protected override key(ctx: Context, { text, repeat }: Input.BetaBrowserKeyInput) {
    return this.#screen.act(idOf(ctx), ...pressKeys(this.#screen, text, repeat ?? 1));
  }
  protected override read_page(ctx: Context, { filter }: Input.BetaBrowserReadPageInput) {
    return this.#screen.elements(idOf(ctx), { interactive_only: filter === "interactive" });
  }
  protected override find(ctx: Context, { query }: Input.BetaBrowserFindInput) {
    return this.#screen.elements(idOf(ctx), { find: query });
  }
  protected override wait(ctx: Context, { duration }: Input.BetaBrowserWaitInput) {
    return waitFor(duration, ctx);
  }
  protected override async switch_tab(ctx: Context, { tab_id }: Input.BetaBrowserSwitchTabInput) {
    await this.#screen.act(idOf(ctx), { command: "switch_tab", params: { tab: Number(tab_id) } });
    const front = this.#screen.page?.tabs.find(({ current }) => current);
    return front ? toTab(front) : refuse(`TAB_NOT_FOUND: there is no tab ${tab_id}.`);
  }

  #click(ctx: Context, kind: keyof typeof buttons, target: Target, held: string | null | undefined) {
    withoutHeld(held);
    if (target.type === "ref") return this.#onElement(ctx, elementClicks[kind], target.ref);
    const click = clickAt(this.#screen, target, { button: buttons[kind], clicks: clickCounts[kind] });
    return this.#screen.act(idOf(ctx), click);
  }
  #onElement(ctx: Context, command: string, ref: string) {
    return this.#screen.act(idOf(ctx), { command, params: { ref } });
  }
}

const toTab = ({ tab, url, title, current }: Page["tabs"][number]) => ({
  ...{ tab_id: String(tab), url, title },
  ...(current && { active: true }),
});

class ComputerToolset extends BetaAbstractComputerToolset20260801 {
  readonly #screen: DrivenScreen;

  constructor(device: DrivenDevice, call: CallTool) {
    // The SDK asks for this before it types. Approval is asked for where the server's tool is called.
    super({ confirm: () => true });
    this.#screen = new DrivenScreen(device, call);
  }

  protected override screenshot(ctx: Context) {
    return this.#screen.picture(idOf(ctx));
  }
  protected override zoom(ctx: Context, { region }: Input.BetaComputerZoomInput) {
    return this.#screen.zoom(idOf(ctx), region);
  }
  protected override left_click(ctx: Context, { coordinate, text }: Input.BetaComputerLeftClickInput) {
    return this.#click(ctx, "left", coordinate, text);
  }
  protected override right_click(ctx: Context, { coordinate, text }: Input.BetaComputerRightClickInput) {
    return this.#click(ctx, "right", coordinate, text);
  }
  protected override double_click(ctx: Context, { coordinate, text }: Input.BetaComputerDoubleClickInput) {
    return this.#click(ctx, "double", coordinate, text);
  }
  protected override left_click_drag(
    ctx: Context,
    { start_coordinate, coordinate, text }: Input.BetaComputerLeftClickDragInput,
  ) {
    withoutHeld(text);
    const [from, to] = [pointIn(start_coordinate), pointIn(coordinate)];
    return this.#screen.act(idOf(ctx), ...dragBetween(this.#screen, from, to));
  }
  protected override mouse_move(ctx: Context, { coordinate }: Input.BetaComputerMouseMoveInput) {
    const params = this.#screen.point(pointIn(coordinate));
    return this.#screen.act(idOf(ctx), { command: "mouse_move", params });
  }
  protected override scroll(ctx: Context, { coordinate, text, ...how }: Input.BetaComputerScrollInput) {
    withoutHeld(text);
    const at = coordinate ? pointIn(coordinate) : this.#screen.middle();
    const turn = { way: how.scroll_direction, notches: how.scroll_amount };
    return this.#screen.act(idOf(ctx), ...scrollAt(this.#screen, at, turn));
  }
  protected override type_(ctx: Context, { text }: Input.BetaComputerTypeInput) {
    return this.#screen.act(idOf(ctx), { command: "type_text", params: { text } });
  }
  protected override key(ctx: Context, { text, repeat }: Input.BetaComputerKeyInput) {
    return this.#screen.act(idOf(ctx), ...pressKeys(this.#screen, text, repeat ?? 1));
  }
  protected override wait(ctx: Context, { duration }: Input.BetaComputerWaitInput) {
    return waitFor(duration, ctx);
  }

  #click(
    ctx: Context,
    kind: keyof typeof buttons,
    coordinate: number[] | null | undefined,
    held: string | null | undefined,
  ) {
    withoutHeld(held);
    const how = { button: buttons[kind], clicks: clickCounts[kind] };
    return this.#screen.act(idOf(ctx), clickAt(this.#screen, pointIn(coordinate), how));
  }
}

const pointIn = (coordinate: readonly number[] | null | undefined): Point => {
  const [x = Number.NaN, y = Number.NaN] = coordinate ?? [];
  return { x, y };
};
