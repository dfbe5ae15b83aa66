/** What a user does: `command` and `params` in our words. The element has the id `go` and is named "Go". */
export type UserAction = {
  command: string;
  params?: Readonly<Record<string, unknown>>;
  /** The element to drop on has the id `onto` and is named "Onto". */
  onto?: boolean;
};

/** A page, one action, and what a user sees in the end. */
export type Pattern = {
  name: string;
  /** Body of the page, or a whole document where it begins with `<!doctype`. */
  html: string;
  /** Further documents, by their path below `/pattern/<name>/`. */
  pages?: Readonly<Record<string, string>>;
  action: UserAction;
  /** What the reply shows. Plain Playwright waits for a text of this kind, or for `until`. */
  outcome: RegExp;
  /** An expression that is true in the page once the outcome is there, where no text of its own says so. */
  until?: string;
  /** Where the outcome is; the tab itself if absent. */
  place?: "frame" | "popup";
  /** False for a page in which something goes on for ever. */
  rests: boolean;
  /** The action really changes nothing. */
  changesNothing?: boolean;
};

export const click: UserAction = { command: "click_element" };

/** What each page's scripts can use: `get` asks the server, which answers after so many milliseconds. */
const prelude = `<script>
  const $ = (id) => document.getElementById(id);
  const show = (text) => $("out").insertAdjacentHTML("beforeend", "<button>" + text + "</button>");
  const get = (ms, query = "") => fetch("/api/" + ms + "?" + query).then((response) => response.json());
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
</script>`;

export function documentOf(name: string, html: string): string {
  if (html.startsWith("<!doctype")) return html;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title>${prelude}</head><body>${html}</body></html>`;
}

/** A button whose click runs a script that may await; `out` takes what it shows. */
export const onClick = (script: string, rest = ""): string =>
  `<h1>Pattern</h1><button id="go">Go</button><div id="out"></div>${rest}
   <script>$("go").onclick = async () => { ${script} };</script>`;

/** A click, after which the page comes to rest. */
export const comesToRest = (name: string, html: string, outcome: RegExp): Pattern => ({
  ...{ name, html, action: click, outcome, rests: true },
});

/** Scripts of a click, by the patterns' names; each ends by showing the text that a user waits for. */
export const shownBy = (scripts: Readonly<Record<string, string>>): Pattern[] =>
  Object.entries(scripts).map(([name, script]) => {
    const text = [...script.matchAll(/show\("(.*?)"\)/g)].at(-1)?.[1] ?? "";
    return comesToRest(name, onClick(script), new RegExp(text));
  });
