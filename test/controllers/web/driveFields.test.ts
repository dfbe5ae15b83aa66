import { describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice({ settings: { locale: "en-US" } }));

const value = (id = "f") => device.js(`return document.getElementById("${id}").value`);
const fill = (text: string, command = "input_text") =>
  device.run(command, { selector: "id=f", text, timeout_ms: 2_000 });

/** As React does it: the state decides what the field holds, not what was typed. */
const controlled = (when: string) =>
  `<input id=f value=old><script>f.addEventListener("input", () => { const back = () => { f.value = "old" }; ${when} })</script>`;

describe("a field that took its text", () => {
  it.each([
    ["date", "2026-11-30", "2026-11-30"],
    ["date", "11/30/2026", "2026-11-30"],
    ["time", "10:30 PM", "22:30"],
    ["month", "November 2026", "2026-11"],
    ["week", "2026-W49", "2026-W49"],
    ["datetime-local", "11/30/2026, 10:30 PM", "2026-11-30T22:30"],
    ["number", "7.5", "7.5"],
    ["range", "30", "30"],
    ["color", "#FF8800", "#ff8800"],
    ["color", "#f80", "#ff8800"],
    ["email", "a@b.org", "a@b.org"],
    ["password", "s3cret", "s3cret"],
    ["search", "words", "words"],
  ])("input type=%s takes %s", async (type, text, held) => {
    await device.show(`<input id=f type=${type}>`);
    await fill(text);
    expect(await value()).toBe(held);
  });

  it.each(["input_text", "type_text"])("%s: a mask that formats what was typed", async (command) => {
    await device.show(`<input id=f><script>f.addEventListener("input", () => {
      const d = f.value.replace(/\\D/g, "").slice(0, 10);
      f.value = d.length > 6 ? "(" + d.slice(0, 3) + ") " + d.slice(3, 6) + "-" + d.slice(6) : d;
    })</script>`);
    await fill("5551234567", command);
    expect(await value()).toBe("(555) 123-4567");
  });

  it("dates are typed in the page's own order", async () => {
    const german = await openWebDevice({ settings: { locale: "de-DE" } });
    try {
      await german.show("<input id=f type=date>");
      await german.run("input_text", { selector: "#f", text: "30.11.2026" });
      expect(await german.js("return f.value")).toBe("2026-11-30");
      await german.run("type_text", { selector: "#f", text: "01.02.2026" });
      expect(await german.js("return f.value")).toBe("2026-02-01");
    } finally {
      await german.close();
    }
  });

  it("a field that makes a tag of its text, boxes for one character each, and an editor's unseen field", async () => {
    await device.show(`<div><ul id=tags></ul><input id=f></div><script>f.addEventListener("input", () => {
      if (!f.value.endsWith(",")) return;
      const li = document.createElement("li"); li.textContent = f.value.slice(0, -1); tags.append(li); f.value = "";
    })</script>`);
    await fill("red,");
    expect(await device.js("return tags.textContent")).toBe("red");
    await device.show(`<div>${[0, 1, 2].map((n) => `<span><input ${n === 0 ? "id=f" : ""} maxlength=1></span>`).join("")}</div><script>
      const all = [...document.querySelectorAll("input")];
      all.forEach((one, n) => one.addEventListener("input", () => all[n + 1]?.focus()))</script>`);
    await fill("123", "type_text");
    expect(await device.js("return [...document.querySelectorAll('input')].map((i) => i.value)")).toEqual([
      "1",
      "2",
      "3",
    ]);
    await device.show(`<p id=out></p><textarea id=f style="opacity:0"></textarea><script>
      f.addEventListener("input", () => { out.textContent += f.value; f.value = "" })</script>`);
    await device.js("f.focus()");
    await device.run("type_text", { text: "abc" });
    expect(await device.js("return out.textContent")).toBe("abc");
  });

  it("editable content, and a text typed where the caret is", async () => {
    await device.show(`<div id=f contenteditable>old <b>words</b></div>`);
    await fill("new words");
    expect(await device.js("return f.innerText")).toBe("new words");
    await fill(" more", "type_text");
    await device.show(`<input id=f value=abcd>`);
    await device.js("f.focus(); f.setSelectionRange(1, 3)");
    await device.run("type_text", { text: "X" });
    expect(await value()).toBe("aXd");
  });

  it("Enter and Tab do what the page makes of them", async () => {
    await device.show(`<form onsubmit="event.preventDefault(); f.value = ''"><input id=f></form>`);
    await fill("hello\n", "type_text");
    expect(await value()).toBe("");
  });
});

describe("a field that did not take its text", () => {
  it.each<[html: string, text: string, says: RegExp, held: string]>([
    [`<input id=f type=date>`, "30/11/2026", /takes dates as 2026-11-30 or 11\/30\/2026/, ""],
    [`<input id=f type=date value=2026-01-01>`, "2026-02-30", /takes dates/, "2026-01-01"],
    [`<input id=f type=time>`, "25:00", /takes times as 22:30 or 10:30 PM/, ""],
    [`<input id=f type=number min=0 max=10 step=2>`, "abc", /a number from 0 to 10 in steps of 2/, ""],
    [
      `<input id=f type=range min=0 max=10 step=2 value=4>`,
      "99",
      /a number from 0 to 10 in steps of 2/,
      "10",
    ],
    [`<input id=f type=range min=0 max=10 step=2 value=4>`, "", /a number from 0/, "4"],
    [`<input id=f type=color value="#000000">`, "red", /a colour as #/, "#000000"],
    [`<input id=f maxlength=5>`, "abcdefgh", /at most 5 characters/, "abcde"],
    [`<textarea id=f maxlength=5></textarea>`, "abcdefgh", /at most 5 characters/, "abcde"],
    [
      `<input id=f oninput="this.value = this.value.replace(/\\D/g, '')" placeholder="digits only">`,
      "12ab",
      /digits only/,
      "12",
    ],
    [controlled("back()"), "new", /holds what it held before/, "old"],
    [controlled("queueMicrotask(back)"), "new", /holds what it held before/, "old"],
    [controlled("requestAnimationFrame(back)"), "new", /holds what it held before/, "old"],
    [controlled("setTimeout(back, 100)"), "new", /holds what it held before/, "old"],
    [controlled("setTimeout(() => setTimeout(back, 60), 60)"), "new", /holds what it held before/, "old"],
    [
      controlled("document.body.innerHTML = '<input id=f value=old>'"),
      "new",
      /holds what it held before/,
      "old",
    ],
  ])("%s says what it takes, and %s is not reported as done", async (html, text, says, held) => {
    await device.show(html);
    const failure = await failureOf(fill(text));
    expect(failure.code).toBe("INPUT_NOT_TAKEN");
    expect(failure.message).toMatch(says);
    expect(failure.details).toMatchObject({ held: JSON.stringify(held), asked: JSON.stringify(text) });
    expect(await value()).toBe(held);
  });

  it("also where Playwright has to wait for it, and in a frame", async () => {
    await device.show(`<iframe srcdoc="<input id=f maxlength=3>"></iframe>`);
    expect((await failureOf(fill("abcdef"))).code).toBe("INPUT_NOT_TAKEN");
    await device.show(
      `<input id=f maxlength=3 disabled><script>setTimeout(() => f.disabled = false, 200)</script>`,
    );
    expect((await failureOf(fill("abcdef"))).code).toBe("INPUT_NOT_TAKEN");
  });

  it.each([
    ["<input id=f value=old readonly>", /read-only/],
    ["<input id=f value=old onkeydown='event.preventDefault()'>", /held before/],
    ["<input id=f maxlength=4 value=old>", /at most 4/],
    ["<div id=f contenteditable onbeforeinput='event.preventDefault()'>old</div>", /held before/],
  ])("type_text into %s", async (html, says) => {
    await device.show(html);
    const failure = await failureOf(fill("new", "type_text"));
    expect([failure.code, failure.message]).toEqual(["INPUT_NOT_TAKEN", expect.stringMatching(says)]);
  });

  it("type_text where the focus is", async () => {
    await device.show("<input id=f value=old readonly>");
    await device.js("f.focus()");
    expect((await failureOf(device.run("type_text", { text: "new" }))).code).toBe("INPUT_NOT_TAKEN");
  });

  it("a password is never shown, nor what was typed", async () => {
    await device.show("<input id=f type=password maxlength=4>");
    const failure = await failureOf(fill("s3cret-word"));
    expect(failure.code).toBe("INPUT_NOT_TAKEN");
    expect(`${failure.message} ${JSON.stringify(failure.details)}`).not.toMatch(/s3cr/);
    await device.show("<input id=f maxlength=4>");
    expect((await failureOf(fill("s3cret-word"))).message).not.toMatch(/s3cr/);
  });
});

describe("lists and boxes", () => {
  it.each([
    "back()",
    "setTimeout(back, 100)",
  ])("a list that goes back says what it holds (%s)", async (when) => {
    await device.show(`<select id=f><option>Free<option>Paid</select><script>
      f.onchange = () => { const back = () => { f.value = "Free" }; ${when} }</script>`);
    const failure = await failureOf(
      device.run("select_option", { selector: "#f", option: "Paid", timeout_ms: 2_000 }),
    );
    expect([failure.code, failure.message]).toEqual([
      "INPUT_NOT_TAKEN",
      expect.stringContaining('holds "Free"'),
    ]);
  });

  it.each([
    "event.preventDefault()",
    "setTimeout(() => { this.checked = false }, 100)",
  ])("a box that goes back says so (%s)", async (when) => {
    await device.show(`<label><input id=f type=checkbox onclick="${when}"> Agree</label>`);
    const failure = await failureOf(device.run("set_checked", { selector: "#f", timeout_ms: 2_000 }));
    expect(failure.code).toBe("INPUT_NOT_TAKEN");
  });
});
