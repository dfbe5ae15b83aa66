import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { startSite } from "../../fixtures/site.ts";
import { pages } from "../../fixtures/sitePages.ts";
import { nameDifferences } from "./accessibleNames.ts";
import { openForTests } from "./seeSession.ts";

/** Ways of naming that the pages of the site do not have. */
const ways = `<title>Ways</title>
  <label for=a>City</label><input id=a><label>Street <input value=x></label>
  <span id=l1>Unit</span><span id=l2>price</span><input aria-labelledby="l1 l2"><input aria-label="Spoken" placeholder=p>
  <input placeholder="Your name"><input title="Hover"><div>Beside</div><input>
  <div>Format</div><input placeholder="dd/mm/yyyy"><input type=submit><input type=reset><input type=image alt="Go">
  <button><img alt="Print" src="" width=9 height=9></button><button><i class="fa fa-trash"></i></button>
  <button title="Close">×</button><button aria-label="Shut">x</button><button>a<b>b</b> <span>c</span></button>
  <button><svg width=9 height=9><title>Zoom</title></svg></button>
  <button>Text<span style="display:none"> hidden</span><span aria-hidden=true> sign</span></button>
  <a href="#1"><img alt="Home" src="" width=9 height=9> page</a><a href="#2" title="Tip">Named</a><a href="#3/profile" style="display:inline-block;width:9px;height:9px"></a>
  <fieldset><legend>Plan</legend><label><input type=radio name=p> Free</label></fieldset>
  <table><caption>People</caption><tr><th>Name<tr><td>Ada</table>
  <ul role=tree><li role=treeitem aria-expanded=true>Docs<ul role=group><li role=treeitem>guide</ul></ul>
  <div role=tablist><div role=tab>One</div></div><div role=slider aria-label=Volume aria-valuenow=3 tabindex=0>o</div>
  <div role=checkbox tabindex=0>Tick <b>me</b></div><div role=listbox aria-label=Fruit><div role=option>Pear</div></div>
  <div role=dialog aria-labelledby=h><h2 id=h>Sure?</h2></div><input type=color aria-label=Ink><progress aria-label=Load></progress>
  <select aria-label=Size><option>S</select><label>Wrapped <select><option>M</select> after</label>
  <input type=checkbox><label>Untied</label><h3>Part <small>two</small></h3><div role=grid aria-label=G><div role=row><div role=gridcell>1</div></div></div>`;

const byId =
  "no name at all for Chromium: ours is the id that its author gave it, so that it can be spoken of";

/**
 * Each name that is not Chromium's, and why. A line is the page, Chromium's role, its name and ours. What is not named here has
 * the same name.
 */
const explained: Readonly<Record<string, string>> = {
  'imask: textbox "", ours "amount"': byId,
  'imask: textbox "", ours "day"': byId,
  'imask: textbox "", ours "phone"': byId,
  'imask: textbox "", ours "pin"': byId,
  'react: textbox "", ours "digits"': byId,
  'react: textbox "", ours "late"': byId,
  'react: textbox "", ours "upper"': byId,
  'ways: button "", ours "delete"': "an icon font only: ours is what the icon stands for",
  'ways: checkbox "", ours "Untied"': "a label that nothing ties to the box: ours is guessed, and marked so",
  'ways: link "", ours "profile"': "no words: ours is the end of its address",
  'ways: row "", ours "Ada"':
    "Chromium leaves rows of a table tag without a name; ARIA names a row by its content",
  'ways: row "", ours "Name"': "as the row before",
  'ways: textbox "", ours "Beside"': "the words before it, guessed and marked so",
  'ways: textbox "dd/mm/yyyy", ours "Format"':
    "the placeholder only shows a format: it is reported as such, and the words before the field name it",
};

const see = openForTests();
const site = shared(startSite);

async function widgetPage(name: string): Promise<string> {
  const define = { "process.env.NODE_ENV": '"production"' };
  const entry = fileURLToPath(new URL(`../../fixtures/widgets/${name}.js`, import.meta.url));
  const made = await build({ entryPoints: [entry], bundle: true, write: false, define });
  return `<body><script>${(made.outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script")}</script>`;
}

test("names are Chromium's accessible names, or the difference is explained", async () => {
  const cdp = await see.page.context().newCDPSession(see.page);
  await cdp.send("Accessibility.enable");
  const found: string[] = [];
  let total = 0;
  const compare = async (page: string) => {
    const { lines, compared } = await nameDifferences(cdp, page);
    found.push(...lines);
    total += compared;
  };
  for (const path of Object.keys(pages).filter((one) => !/big|forward|late|busy/.test(one))) {
    await see.page.goto(`${site.url}${path}`, { waitUntil: "domcontentloaded" });
    await compare(path);
  }
  for (const name of ["react", "imask"]) {
    await see.page.goto(`${site.url}/second`);
    await see.page.setContent(await widgetPage(name));
    await compare(name);
  }
  await see.page.setContent(ways);
  await compare("ways");
  expect(found.toSorted()).toEqual(Object.keys(explained).toSorted());
  expect(total).toBeGreaterThan(80);
});
