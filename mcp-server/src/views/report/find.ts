/** The script of a report: shows its filter, and folds and hides tests. The report is whole without it. */
const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];

const form = document.querySelector<HTMLFormElement>("form.find");
if (form) start(form);

function start(form: HTMLFormElement): void {
  const tests = all("details.test").map((element) => ({
    element,
    word: element.dataset.word ?? "",
    // The summary comes first.
    text: `${element.dataset.group ?? ""} ${element.firstElementChild?.textContent ?? ""}`.toLowerCase(),
  }));
  const output = form.querySelector("output");
  const show = () => {
    const asked = new FormData(form);
    const word = String(asked.get("word"));
    const text = String(asked.get("text")).trim().toLowerCase();
    let shown = 0;
    for (const test of tests) {
      const isShown = (word === "" || test.word === word) && test.text.includes(text);
      test.element.hidden = !isShown;
      if (isShown) shown += 1;
    }
    for (const group of all("section.tests"))
      group.hidden = group.querySelector("details.test:not([hidden])") === null;
    if (output) output.textContent = `${shown} of ${tests.length} shown`;
  };
  const fold = (isOpen: boolean) => {
    for (const test of all("details.test:not([hidden])")) test.toggleAttribute("open", isOpen);
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[name=open]")?.addEventListener("click", () => fold(true));
  form.querySelector("[name=close]")?.addEventListener("click", () => fold(false));
  // A browser keeps what was asked over a reload.
  show();
  form.hidden = false;
}
/** Opens what an address leads into, also in browsers that do not. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at: Element | null = target; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();
