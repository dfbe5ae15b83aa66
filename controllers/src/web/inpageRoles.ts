/** What a thing is and in which state: WAI-ARIA roles and the HTML mapping of them (HTML-AAM). Runs inside the page. */
export class InpageRoles {
  private readonly tags: Readonly<Record<string, string>> = {
    article: "article",
    aside: "complementary",
    button: "button",
    caption: "caption",
    datalist: "listbox",
    dd: "definition",
    details: "group",
    dialog: "dialog",
    dt: "term",
    fieldset: "group",
    figure: "figure",
    footer: "contentinfo",
    form: "form",
    frame: "iframe",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    header: "banner",
    hr: "separator",
    iframe: "iframe",
    li: "listitem",
    main: "main",
    menu: "list",
    meter: "meter",
    nav: "navigation",
    ol: "list",
    optgroup: "group",
    option: "option",
    output: "status",
    p: "paragraph",
    progress: "progressbar",
    search: "search",
    summary: "button",
    table: "table",
    tbody: "rowgroup",
    td: "cell",
    textarea: "textbox",
    tfoot: "rowgroup",
    th: "columnheader",
    thead: "rowgroup",
    tr: "row",
    ul: "list",
  };
  private readonly inputs: Readonly<Record<string, string>> = {
    button: "button",
    checkbox: "checkbox",
    color: "colour",
    file: "file",
    hidden: "",
    image: "button",
    number: "spinbutton",
    radio: "radio",
    range: "slider",
    reset: "button",
    search: "searchbox",
    submit: "button",
  };
  private readonly known = new Set(
    (
      "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
      "complementary contentinfo definition dialog directory document emphasis feed figure form generic grid gridcell group " +
      "heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox " +
      "menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup " +
      "rowheader scrollbar search searchbox separator slider spinbutton status strong switch tab table tablist tabpanel term " +
      "textbox time timer toolbar tooltip tree treegrid treeitem"
    ).split(" "),
  );
  private readonly widgets = new Set(
    (
      "button checkbox colour combobox file gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio " +
      "scrollbar searchbox slider spinbutton switch tab textbox treeitem clickable"
    ).split(" "),
  );
  private readonly namedByContent = new Set(
    (
      "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row " +
      "rowheader switch tab tooltip treeitem clickable"
    ).split(" "),
  );

  /** A role that a user acts on. `gridcell`, `option` and the like count even without a listener of their own. */
  isWidget(role: string): boolean {
    return this.widgets.has(role);
  }
  isNamedByContent(role: string): boolean {
    return this.namedByContent.has(role);
  }

  /** The first role token that exists, else the one that the tag has; empty for a plain container. */
  role(element: Element): string {
    const tokens = (element.getAttribute("role") ?? "").toLowerCase().split(/\s+/);
    const token = tokens.find((one) => this.known.has(one));
    if (token === undefined) return this.native(element);
    if (token === "generic") return "";
    if (token === "none" || token === "presentation")
      return this.isFocusable(element) ? this.native(element) : "";
    return token;
  }

  private native(element: Element): string {
    if (element instanceof HTMLElement && element.isContentEditable) return this.editable(element);
    const special = this.special(element);
    return special === undefined ? (this.tags[element.localName] ?? "") : special;
  }

  /** Tags whose role depends on their attributes or place; undefined for all others. */
  private special(element: Element): string | undefined {
    if (element instanceof HTMLInputElement) return this.inputRole(element);
    const rules: Readonly<Record<string, readonly [string, string | undefined, string | undefined]>> = {
      a: ["[href]", "link", ""],
      area: ["[href]", "link", ""],
      select: ["[multiple],[size]:not([size='0'],[size='1'])", "listbox", "combobox"],
      img: ['[alt=""]:not([title])', "", "img"],
      th: ["[scope=row]", "rowheader", "columnheader"],
      section: ["[aria-label],[aria-labelledby]", "region", ""],
      header: [":is(article,aside,main,nav,section) *", "", undefined],
      footer: [":is(article,aside,main,nav,section) *", "", undefined],
    };
    const rule = rules[element.localName];
    if (!rule) return undefined;
    const [when, then, otherwise] = rule;
    return element.matches(when) ? then : otherwise;
  }

  private inputRole(input: HTMLInputElement): string {
    const role = this.inputs[input.type] ?? "textbox";
    return input.list && (role === "textbox" || role === "searchbox") ? "combobox" : role;
  }

  /** The host of an editable region is a text box; what lies inside keeps its own role. */
  private editable(element: HTMLElement): string {
    const parent = element.parentElement;
    return parent?.isContentEditable ? (this.tags[element.localName] ?? "") : "textbox";
  }

  isFocusable(element: Element): boolean {
    return (
      element.hasAttribute("tabindex") ||
      element.matches(
        "a[href],area[href],button,input,select,textarea,summary,iframe,audio[controls],video[controls]",
      )
    );
  }

  private flag(element: Element, attribute: string): boolean {
    return element.getAttribute(attribute) === "true";
  }

  /** State words in a fixed order; nothing for what is off, except `collapsed` of a thing that can expand. */
  states(element: Element): string[] {
    const states: string[] = [];
    const add = (state: string, holds: boolean) => {
      if (holds) states.push(state);
    };
    add("disabled", element.matches(":disabled") || element.closest('[aria-disabled="true"]') !== null);
    const checked = this.checked(element);
    if (checked) states.push(checked);
    add(
      "selected",
      this.flag(element, "aria-selected") || (element instanceof HTMLOptionElement && element.selected),
    );
    const expanded = this.expanded(element);
    if (expanded !== undefined) states.push(expanded ? "expanded" : "collapsed");
    add("pressed", this.flag(element, "aria-pressed"));
    add("focused", this.isFocused(element));
    add("required", element.matches(":required") || this.flag(element, "aria-required"));
    add("readonly", this.isReadonly(element));
    add(
      "invalid",
      !["", "false"].includes(element.getAttribute("aria-invalid") ?? "") || this.isRefused(element),
    );
    add("current", !["", "false"].includes(element.getAttribute("aria-current") ?? ""));
    return states;
  }

  checked(element: Element): "checked" | "mixed" | undefined {
    if (element instanceof HTMLInputElement && (element.type === "checkbox" || element.type === "radio")) {
      if (element.indeterminate) return "mixed";
      return element.checked ? "checked" : undefined;
    }
    const value = element.getAttribute("aria-checked");
    if (value === "mixed") return "mixed";
    return value === "true" ? "checked" : undefined;
  }

  private expanded(element: Element): boolean | undefined {
    if (element.localName === "summary" && element.parentElement instanceof HTMLDetailsElement) {
      return element.parentElement.open;
    }
    const value = element.getAttribute("aria-expanded");
    return value === "true" || value === "false" ? value === "true" : undefined;
  }

  isFocused(element: Element): boolean {
    const root = element.getRootNode();
    if (!(root instanceof Document || root instanceof ShadowRoot)) return false;
    return root.activeElement === element && element !== document.body;
  }

  private readonly knowsRefused = CSS.supports("selector(:user-invalid)");

  /** The browser finds what a user has put in wrong, and shows it so. */
  isRefused(element: Element): boolean {
    const isJudged = this.knowsRefused && /^(input|select|textarea)$/.test(element.localName);
    return isJudged && element.matches(":user-invalid");
  }

  private isReadonly(element: Element): boolean {
    if (this.flag(element, "aria-readonly")) return true;
    const field = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
    return (
      field &&
      element.readOnly &&
      element.matches("textarea,input:not([type=button],[type=submit],[type=reset])")
    );
  }

  /** What a field holds, as a user reads it. A password is dots, whatever its length. */
  value(element: Element): string | undefined {
    if (element instanceof HTMLInputElement) return this.inputValue(element);
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (element instanceof HTMLSelectElement)
      return [...element.selectedOptions].map((o) => o.label.trim()).join(", ");
    if (element instanceof HTMLProgressElement || element instanceof HTMLMeterElement)
      return String(element.value);
    if (element instanceof HTMLElement && element.isContentEditable)
      return element.innerText.replace(/\n$/, "");
    const said = element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow");
    if (said !== null || element.getAttribute("role") !== "spinbutton") return said ?? undefined;
    return element.textContent ?? undefined;
  }

  private inputValue(input: HTMLInputElement): string | undefined {
    if (["button", "submit", "reset", "image", "checkbox", "radio"].includes(input.type)) return undefined;
    if (input.type === "password") return input.value === "" ? "" : "••••";
    if (input.type === "file") return [...(input.files ?? [])].map((file) => file.name).join(", ");
    return input.value;
  }
}
