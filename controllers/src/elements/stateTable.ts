/**
 * The states of a thing, each with the roles that always have it. A thing of another role has the state only where the page or
 * device says so, as `aria-pressed` does of a button. Looks and checks read by this table. It is bundled into pages: it imports nothing.
 */
const stateRoles = {
  disabled:
    "application button checkbox clickable colour columnheader combobox file grid gridcell group link listbox listitem menu " +
    "menubar menuitem menuitemcheckbox menuitemradio option radio radiogroup rowheader scrollbar searchbox slider spinbutton " +
    "switch tab tablist textbox toolbar tree treegrid treeitem",
  checked: "checkbox menuitemcheckbox menuitemradio radio switch",
  selected: "",
  expanded: "",
  open: "",
  pressed: "",
  focused: "*",
  required: "",
  readonly: "",
  editable: "",
  invalid: "checkbox colour combobox file listbox radiogroup searchbox slider spinbutton switch textbox tree",
  busy: "*",
  current: "",
} as const;
export type StateName = keyof typeof stateRoles;

export const stateNames: readonly StateName[] = Object.keys(stateRoles).filter((name): name is StateName =>
  Object.hasOwn(stateRoles, name),
);

/** The states that a thing can be in, each as it is now. A state that is left out is one that it cannot be in. */
export type States = Readonly<Partial<Record<StateName, boolean | "mixed">>>;

/** Whether things of a role have the state, whatever the page says of them. */
export function canAlwaysBe(role: string, state: string): boolean {
  const rolesOf: Readonly<Record<string, string>> = stateRoles;
  const roles = rolesOf[state] ?? "";
  return roles === "*" || roles.split(" ").includes(role);
}
