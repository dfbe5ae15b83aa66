import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import { findPort, reasonsOf } from "../../devices/portOf.ts";
import type { CheckInfo, CommandInfo, OpenDevice } from "../../ports.ts";
import { type AppModel, labelsOf } from "../userinterfaces/model.ts";

/** Commands, and checks, that one context shows; from seed 004. Those of the first controllers come first. */
const mostShown = 20;
const mostNodes = 200;

/** What a planner may name on one device and app. A command or check is a line such as `press_key(remote): Press a key`. */
export type DeviceContext = {
  device_id: string;
  device_model: string;
  tree_id: string;
  current_node?: string;
  navigation: string[];
  actions: string[];
  verifications: string[];
  /** How many of each are not shown. */
  more?: { navigation?: number; actions?: number; verifications?: number };
  /** Controllers that could not be opened, and why. */
  unavailable?: string[];
};

export type ContextSource = { device: OpenDevice; model: AppModel; current: string | undefined };

export function contextOf(
  { device, model, current }: ContextSource,
  roles: ReadonlySet<string> | undefined,
): DeviceContext {
  const doable = (name: string) => roles === undefined || fitsScreen(name, roles);
  const nodes = cut(
    roles === undefined || current === undefined ? labelsOf(model) : neighboursOf(model, current),
    mostNodes,
  );
  const actions = cut(
    commandsOf(device)
      .map(commandLine)
      .filter(({ name }) => doable(name)),
    mostShown,
  );
  const checks = cut(checksOf(device).map(checkLine), mostShown);
  const more = {
    ...(nodes.more > 0 && { navigation: nodes.more }),
    ...(actions.more > 0 && { actions: actions.more }),
    ...(checks.more > 0 && { verifications: checks.more }),
  };
  return {
    device_id: device.id,
    device_model: device.model,
    tree_id: model.ui.root_tree_id,
    ...(current !== undefined && { current_node: current }),
    navigation: nodes.shown,
    actions: actions.shown.map(({ line }) => line),
    verifications: checks.shown.map(({ line }) => line),
    ...(Object.keys(more).length > 0 && { more }),
    ...(device.unavailable.length > 0 && { unavailable: reasonsOf(device) }),
  };
}

function cut<Item>(items: readonly Item[], most: number): { shown: Item[]; more: number } {
  return { shown: items.slice(0, most), more: Math.max(0, items.length - most) };
}

const lineOf = (name: string, kind: string, description: string) => ({
  name,
  line: `${name}(${kind}): ${description.split(/(?<=[.;])\s/)[0] ?? ""}`,
});
const commandLine = ({ source, command }: CommandInfo) =>
  lineOf(command.name, source.kind, command.description);
const checkLine = ({ source, check }: CheckInfo) =>
  lineOf(check.name, source.verification ?? source.kind, check.description);

/** The nodes that an edge joins with this one. */
function neighboursOf(model: AppModel, label: string): string[] {
  const near = [...model.edges.values()].flatMap(({ source, target, action_sets }) =>
    action_sets.map(({ direction }) => (direction === "forward" ? [source, target] : [target, source])),
  );
  const isHere = (id: string | undefined) => model.nodes.get(id ?? "")?.label === label;
  const next = near
    .filter(([from]) => isHere(from))
    .flatMap(([, to]) => model.nodes.get(to ?? "")?.label ?? []);
  return [...new Set(next)];
}

/** Commands that need an element, by the roles that it may have. */
const fields = ["textbox", "searchbox", "combobox", "spinbutton"];
const rolesOf: Readonly<Record<string, readonly string[]>> = {
  input_text: fields,
  type_text: fields,
  select_text: fields,
  select_option: ["combobox", "listbox"],
  set_checked: ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"],
  set_slider: ["slider"],
};

const fitsScreen = (command: string, roles: ReadonlySet<string>): boolean =>
  rolesOf[command]?.some((role) => roles.has(role)) ?? true;

/** The roles of what the device shows now; undefined for a device without elements, of which nothing is left out. */
export async function rolesOn(
  device: OpenDevice,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const source = await findPort(device, "elements", signal);
  const dump = await source?.dump({ interactiveOnly: true }, signal);
  return dump && new Set(dump.elements.map(({ role }) => role));
}
