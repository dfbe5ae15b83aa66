import { describe, expect, test } from "vitest";
import { locate } from "#controllers/web/acting/locate.ts";
import { diffElements, renderChanges } from "#mcp-server/services/devices/screen/compare.ts";
import { findElements } from "#mcp-server/services/devices/screen/find.ts";
import { renderElements } from "#mcp-server/services/devices/screen/render.ts";
import { openReader, read } from "./seeReader.ts";
import { signal } from "./seeSession.ts";

const { see, dump, find } = openReader();

describe("lists", () => {
  const countries = Array.from({ length: 250 }, (_, at) => (at === 180 ? "Portugal" : `Land ${at}`));
  const select = `<label>Country <select>${countries.map((one) => `<option>${one}`).join("")}</select></label>`;

  test("say how many options there are more, and find reaches all of them", async () => {
    expect(await dump(select)).toEqual([
      'combobox "Country" = "Land 0" (Land 0 | Land 1 | Land 2 | Land 3 | Land 4 | 245 more)',
    ]);
    expect(await find(select, "Portugal")).toEqual([
      expect.stringMatching(/^combobox "Country" .*\(Portugal \| .*24\d more\)$/),
    ]);
    expect(await find(select, "country Portugal")).toEqual([
      expect.stringMatching(/^combobox "Country" .*\(Portugal \| /),
    ]);
  });

  test("suggestions of a field are its choices", async () => {
    expect(
      await dump(
        `<input aria-label=City list=c><datalist id=c><option value=Bern><option value=Berlin></datalist>`,
      ),
    ).toEqual(['combobox "City" (Bern | Berlin)']);
  });

  test("an option that appears late is a change", async () => {
    await see.page.setContent(
      `<select aria-label=Size><option>S</select><script>const more=()=>document.querySelector("select").add(new Option("XL"))</script>`,
    );
    const before = await see.look.dump({ interactiveOnly: false }, signal);
    await see.page.evaluate("more()");
    const after = await see.look.dump({ interactiveOnly: false }, signal);
    expect(renderChanges(diffElements(before.elements, after.elements), 100).text).toMatch(
      /^~ e\d+ combobox "Size" = "S" \(S \| XL\)/,
    );
  });
});

describe("fields", () => {
  test.each([
    [
      `<input aria-label=A type=date min=2026-01-01 max=2026-12-31>`,
      'textbox "A" date 2026-01-01 to 2026-12-31',
    ],
    [`<input aria-label=A type=email required>`, 'textbox "A" email required'],
    [`<input aria-label=A type=number min=1 max=9 step=2 value=3>`, 'spinbutton "A" = "3" 1 to 9, step 2'],
    [`<input aria-label=A type=number min=1>`, 'spinbutton "A" at least 1'],
    [`<input aria-label=A type=range min=0 max=50 value=5>`, 'slider "A" = "5" 0 to 50'],
    [`<input aria-label=A type=range value=5>`, 'slider "A" = "5" 0 to 100'],
    [`<input aria-label=A pattern="[A-Z]{3}">`, 'textbox "A" pattern [A-Z]{3}'],
    [`<input aria-label=A placeholder="dd/mm/yyyy">`, 'textbox "A" like "dd/mm/yyyy"'],
    [`<input aria-label=A placeholder="Your name">`, 'textbox "A"'],
    [`<input aria-label=A maxlength=4>`, 'textbox "A" at most 4 characters'],
    [`<input aria-label=A type=file accept=".pdf,.png" multiple>`, 'file "A" .pdf,.png multiple'],
    [`<select aria-label=A multiple><option>x<option>y</select>`, 'listbox "A" multiple (x | y)'],
    [
      `<div role=slider aria-label=A tabindex=0 aria-valuenow=3 aria-valuemin=0 aria-valuemax=10>o</div>`,
      'slider "A" = "3" 0 to 10',
    ],
    [
      `<div role=slider aria-label=A tabindex=0 aria-valuenow=3 aria-valuetext="3 of many">o</div>`,
      'slider "A" = "3 of many"',
    ],
    [`<div role=spinbutton aria-label=A tabindex=0>7</div>`, 'spinbutton "A" = "7"'],
    [`<input aria-label=A>`, 'textbox "A"'],
    [`<textarea aria-label=A rows=3 readonly>x</textarea>`, 'textbox "A" = "x" readonly'],
  ])("say what they take: %s", async (html, line) => {
    expect(await dump(html)).toEqual([line]);
  });

  test.each([
    [`<input aria-label=A aria-invalid=true aria-errormessage=e><p id=e>Too short</p>`],
    [`<input aria-label=A aria-invalid=true aria-describedby=e><p id=e>Too short</p>`],
    [
      `<div role=slider tabindex=0 aria-label=A aria-invalid=true aria-errormessage=e>o</div><p id=e>Too short</p>`,
    ],
  ])("say the error that is shown for them: %s", async (html) => {
    expect((await dump(html))[0]).toMatch(/"A" invalid error "Too short"/);
    expect((await dump(html.replace("=true", "=false")))[0]).not.toContain("error");
  });

  test("say what the browser says of them once a user has left them", async () => {
    await see.page.setContent(`<form><input aria-label=A type=email required><button>Go</button></form>`);
    await see.page.fill("input", "nobody");
    await see.page.press("input", "Tab");
    const { elements } = await see.look.dump({ interactiveOnly: true }, signal);
    expect(read(elements)[0]).toMatch(/^textbox "A" = "nobody" email required invalid error ".*@.*"$/);
  });

  test.each([
    ["before it", `<div>City</div><div><input></div>`],
    ["before it, without a tag", `City: <input>`],
    [
      "above it",
      `<div class=row><div class=cell><span>City</span></div><div class=cell><div><input></div></div></div>`,
    ],
    ["in the row of a table", `<table><tr><td>City</td><td><input></td></tr></table>`],
    ["with a format inside", `<div>City</div><input placeholder="99-999">`],
    [
      "of a slider made of boxes",
      `<div>City</div><div><div role=slider tabindex=0 aria-valuenow=1 style="width:9px;height:9px"></div></div>`,
    ],
  ])("a label that nothing ties to a field names it, and is marked as guessed: %s", async (_, html) => {
    const other = `<p>Name <input id=other></p>`;
    expect((await dump(other + html))[1]).toMatch(/^(textbox|slider) "City:?" \(label guessed\)/);
    const found = await locate(see.session, { selector: "label~=City" }, signal, 0);
    expect(await found.getAttribute("id")).toBe(null);
  });

  test("a label that is tied goes before one that is guessed", async () => {
    await see.page.setContent(`<div>City</div><input id=guessed><label>City <input id=tied></label>`);
    const found = await locate(see.session, { selector: "label=City" }, signal, 0);
    expect(await found.getAttribute("id")).toBe("tied");
  });

  test("a slider and a stepper without any role have the words next to them", async () => {
    const lines = await dump(
      `<div>Volume <span>40%</span><div class="slider-handle" tabindex=0 style="width:9px;height:9px"></div></div>
       <div><span>Guests</span> <button>-</button><b>2</b><button>+</button></div>`,
    );
    expect(lines[0]).toMatch(/^clickable ".*" next to "Volume 40%"$/);
    expect(lines.slice(1)).toEqual(['button "-" next to "Guests 2"', 'button "+" next to "Guests 2"']);
  });

  test("one that changes while it is read is read once, and its change is reported", async () => {
    await see.page.setContent(`<input aria-label=Clock value=0><script>
      const field=document.querySelector("input");const tick=()=>{field.value=String(Number(field.value)+1);go=requestAnimationFrame(tick)};let go=requestAnimationFrame(tick)</script>`);
    const before = await see.look.dump({ interactiveOnly: true }, signal);
    await see.page.waitForFunction(`field.value !== ${JSON.stringify(before.elements[0]?.value)}`);
    const after = await see.look.dump({ interactiveOnly: true }, signal);
    await see.page.evaluate("cancelAnimationFrame(go)");
    expect(renderChanges(diffElements(before.elements, after.elements), 100).text).toMatch(
      /^~ e\d+ textbox "Clock" = "\d+" focused?, was "\d+"$|^~ e\d+ textbox "Clock" = "\d+", was "\d+"$/,
    );
  });
});

describe("tables", () => {
  const table = `<table><thead><tr><th>Name<th>Age<th>City</thead><tbody>
    <tr><td>Ada<td>36<td>Paris<tr><td>Bob<td>40<td>Rome</tbody></table>`;

  test("are rows with their headers", async () => {
    expect(await dump(table, false)).toEqual([
      'row "Name | Age | City"',
      'row "Ada | 36 | Paris"',
      'row "Bob | 40 | Rome"',
    ]);
    expect(await find(table, "Rome")).toEqual(['row (Name | Age | City) "Bob | 40 | Rome"']);
  });

  test("in which double clicks are heard have their cells, empty ones too", async () => {
    const html = `<div id=t style="height:90vh"><table><tr><th>Month<th>Rent</tr><tr><td>March<td>&nbsp;</tr></table><p>Note</p></div>
      <script>document.getElementById("t").addEventListener("dblclick", () => 0)</script>`;
    expect(await dump(html, false)).toEqual([
      'row "Month | Rent"',
      'cell "March"',
      "cell",
      'paragraph "Note"',
    ]);
    expect(await dump(html)).toEqual([""]);
  });

  test("of boxes with roles are rows as well", async () => {
    const row = (cells: string[], role: string) =>
      `<div role=row>${cells.map((cell) => `<div role=${role}>${cell}</div>`).join("")}</div>`;
    const html = `<div role=table>${row(["Name", "Age"], "columnheader")}${row(["Ada", "36"], "cell")}</div>`;
    expect(await dump(html, false)).toEqual(['row "Name | Age"', 'row "Ada | 36"']);
  });

  test("a calendar has its month and its weekdays, and a week is a line", async () => {
    const week = (days: number[]) => `<tr>${days.map((day) => `<td onclick="0">${day}</td>`).join("")}</tr>`;
    expect(
      await dump(`<div><div><button>‹</button><span>November 2026</span><button>›</button></div><table><thead><tr><th>Mo<th>Tu<th>We</thead>
        <tbody>${week([2, 3, 4])}${week([9, 10, 11])}</tbody></table></div>`),
    ).toEqual([
      'button "‹" next to "November 2026"',
      'button "›" next to "November 2026"',
      'table "November 2026"',
      "row (Mo | Tu | We)",
      'clickable: "2" "3" "4"',
      'clickable: "9" "10" "11"',
    ]);
  });

  test("a calendar of boxes has its month", async () => {
    const days = Array.from(
      { length: 14 },
      (_, at) => `<span onclick="0" style="margin:3px">${at + 1}</span>`,
    ).join("");
    expect(
      (
        await dump(`<div><div class=head><span>November 2026</span></div><div class=days>${days}</div></div>`)
      )[0],
    ).toBe('group "November 2026"');
  });

  test("a table that only lays out is not a table", async () => {
    const lines = await dump(
      `<table><tr><td><h2>Menu</h2><p>Some words</p></td><td><table><tr><td>inner</td></tr></table></td></tr></table>`,
      false,
    );
    expect(lines.join("\n")).not.toContain("row");
    expect(lines.join("\n")).toContain("Some words");
  });

  test("one of 10,000 rows is read within its limits, and says what was left out", async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => `<tr><td>Name ${at}<td>${at}<td>x</tr>`).join("");
    await see.page.setContent(
      `<table><thead><tr><th>Name<th>No<th>Mark</thead><tbody>${rows}</tbody></table>`,
    );
    const seen = await see.look.dump({ interactiveOnly: false }, AbortSignal.timeout(30_000));
    expect(seen.elements.length).toBeGreaterThan(500);
    expect(seen.notices.join()).toMatch(/very large: \d+ elements listed/);
    expect(read(findElements(seen.elements, "Name 321"))[0]).toBe(
      'row (Name | No | Mark) "Name 321 | 321 | x"',
    );
    expect(renderElements(seen.elements, { maxTokens: 300 }).text).toMatch(/… \d+ more like this/);
  });
});
