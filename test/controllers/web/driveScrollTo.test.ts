import { describe, expect, it } from "vitest";
import { shared } from "../../fixtures/shared.ts";
import { failureOf, openWebDevice } from "./webDevice.ts";

const device = shared(() => openWebDevice());

const show = (html: string) => device.show(html, "<style>body { margin: 0 }</style>");
/** A list that has only those of its rows that are in sight. */
const virtual = (rows: number) => `<h1>Orders</h1>
  <div id=list aria-label="All orders" style="height:200px;overflow:auto"><div id=inner style="position:relative;height:${rows * 20}px"></div></div>
  <script>
    const draw = () => {
      const first = Math.floor(list.scrollTop / 20), rows = [];
      for (let at = first; at < Math.min(first + 10, ${rows}); at++)
        rows.push('<div style="position:absolute;top:' + at * 20 + 'px">Order ' + at + '.</div>');
      inner.innerHTML = rows.join("");
    };
    list.onscroll = () => setTimeout(draw, 50);
    draw();
  </script>`;
const seen = (text: string) =>
  device.js(`const found = [...document.querySelectorAll("div")].find((one) => one.textContent === ${JSON.stringify(text)});
    const box = found?.getBoundingClientRect(), around = list.getBoundingClientRect();
    return Boolean(box && box.top >= around.top - 1 && box.bottom <= around.bottom + 1)`);

describe("scroll_to_element in a list that draws only what is in sight", () => {
  it("finds what is far below, and what is above", async () => {
    await show(virtual(100));
    await device.run("scroll_to_element", { selector: "Order 90." });
    expect(await seen("Order 90.")).toBe(true);
    await device.run("scroll_to_element", { selector: "Order 3." });
    expect(await seen("Order 3.")).toBe(true);
  });

  it("names the ends that it came to, and leaves the list as it was", async () => {
    await show(virtual(50));
    const { code, message } = await failureOf(device.run("scroll_to_element", { selector: "Order 77." }));
    expect(code).toBe("ELEMENT_NOT_FOUND");
    expect(message).toMatch(
      /reached the end of "All orders" after \d+ screens, the beginning of "All orders" after 0 screens/,
    );
    expect(await device.js("return list.scrollTop")).toBe(0);
  });

  it("waits at the end for what the list asks for then", async () => {
    await show(`<div id=list style="height:200px;overflow:auto"><ol id=rows></ol></div>
      <script>
        const more = () => { for (let at = 0; at < 20; at++) rows.insertAdjacentHTML("beforeend", "<li>Row " + (rows.children.length + 1) + "."); };
        let isLoading = false;
        list.onscroll = () => {
          if (isLoading || rows.children.length >= 80 || list.scrollTop + 210 < list.scrollHeight) return;
          isLoading = true;
          setTimeout(() => { more(); isLoading = false; }, 300);
        };
        more();
      </script>`);
    await device.run("scroll_to_element", { selector: "Row 75." });
    const { message } = await failureOf(device.run("scroll_to_element", { selector: "Row 99." }));
    expect(message).toMatch(/the end of #list after \d+ screens/);
  });

  it("looks through the page itself, a row to the right and a frame", async () => {
    const tail = (axis: string, text: string) =>
      `<script>let isThere; addEventListener("scroll", (event) => {
        const area = event.target.scrollingElement || event.target;
        if (!isThere && area.scroll${axis} > 900) { isThere = true; (event.target.body || area).insertAdjacentHTML("beforeend", "<p>${text}</p>"); }
      }, true)</script>`;
    await show(`<div style="height:3000px">x</div>${tail("Top", "At the end")}`);
    await device.run("scroll_to_element", { selector: "At the end" });
    await show(
      `<div id=row style="overflow-x:auto;width:300px"><div style="width:3000px">x</div></div>${tail("Left", "To the right")}`,
    );
    await device.run("scroll_to_element", { selector: "To the right" });
    await show(
      `<iframe id=frame style="height:200px"></iframe><script>frame.srcdoc = ${JSON.stringify(`<div style="height:3000px">x</div>${tail("Top", "Within")}`).replaceAll("</", "<\\/")}</script>`,
    );
    await device.run("scroll_to_element", { selector: "Within" });
  });

  it("says so where nothing scrolls", async () => {
    await show("<p>Short</p>");
    const { message } = await failureOf(device.run("scroll_to_element", { selector: "Order 77." }));
    expect(message).toMatch(/nothing here scrolls/);
  });
});
