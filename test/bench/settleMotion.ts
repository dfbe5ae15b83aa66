import { click, comesToRest, onClick, type Pattern, shownBy } from "./settlePattern.ts";

const animated = (css: string): string => `<style>${css}</style>`;
const menu = `<div id="menu" hidden><button>Rename</button><button>Delete</button></div>`;

const scripts: Readonly<Record<string, string>> = {
  "animation by script that ends": `const moving = $("go").animate([{ opacity: 0.2 }, { opacity: 1 }], 400); moving.onfinish = () => show("Moved");`,
  "two animations, one after the other": `await $("go").animate([{ opacity: 0.2 }, { opacity: 1 }], 200).finished; await $("go").animate([{ opacity: 1 }, { opacity: 0.5 }], 200).finished; show("Both over");`,
};

/** Animations, transitions and lists that move. */
export const motionPatterns: readonly Pattern[] = [
  ...shownBy(scripts),
  comesToRest(
    "menu that fades in",
    onClick(
      `$("menu").hidden = false; requestAnimationFrame(() => $("menu").classList.add("open"));`,
      menu +
        animated(
          "#menu { visibility: hidden; opacity: 0; transition: opacity 0.25s, visibility 0s 0.05s } #menu.open { visibility: visible; opacity: 1 }",
        ),
    ),
    /Rename/,
  ),
  comesToRest(
    "menu that becomes visible at the end of its animation",
    onClick(
      `$("menu").hidden = false;`,
      menu +
        animated(
          "@keyframes grow { from { visibility: hidden } 99% { visibility: hidden } to { visibility: visible } } #menu { animation: grow 0.3s }",
        ),
    ),
    /Rename/,
  ),
  comesToRest(
    "menu that is built when its transition ends",
    onClick(
      `$("panel").addEventListener("transitionend", () => show("Rename"), { once: true }); $("panel").style.height = "120px";`,
      `<div id="panel"></div>${animated("#panel { height: 1px; transition: height 0.35s }")}`,
    ),
    /Rename/,
  ),
  comesToRest(
    "dialog that slides in",
    onClick(
      `$("dialog").showModal();`,
      `<dialog id="dialog"><button>Accept</button></dialog>${animated("@keyframes slide { from { transform: translateY(-300px) } } dialog[open] { animation: slide 0.3s }")}`,
    ),
    /Accept/,
  ),
  {
    name: "row that fades out before it goes",
    html: onClick(
      `$("row").classList.add("gone"); $("row").addEventListener("transitionend", () => $("row")?.remove());`,
      `<div id="row"><button>Old row</button></div>${animated("#row { transition: opacity 0.3s } #row.gone { opacity: 0 }")}`,
    ),
    action: click,
    outcome: /- .*Old row/,
    until: "!document.getElementById('row')",
    rests: true,
  },
  comesToRest(
    "spinner that turns for ever beside the answer",
    onClick(
      `$("spin").hidden = false; await get(200); show("Answer beside it");`,
      `<div id="spin" hidden>*</div>${animated("@keyframes turn { to { transform: rotate(1turn) } } #spin { animation: turn 0.5s linear infinite; width: 20px }")}`,
    ),
    /Answer beside it/,
  ),
  comesToRest(
    "toast that comes late and slides in",
    onClick(
      `await sleep(150); $("out").innerHTML = "<div class=toast role=status>Copied to the clipboard</div>";`,
      animated(
        "@keyframes rise { from { transform: translateY(60px); opacity: 0 } } .toast { animation: rise 0.25s }",
      ),
    ),
    /Copied/,
  ),
  {
    name: "hover that opens a menu after a delay",
    html: `<h1>Pattern</h1><button id="go">Go</button><div id="out"></div><script>$("go").onmouseenter = () => setTimeout(() => show("Submenu"), 200);</script>`,
    action: { command: "hover_element" },
    outcome: /Submenu/,
    rests: true,
  },
  {
    name: "accordion that opens in height",
    html: onClick(
      `$("panel").style.height = "80px"; await Promise.all($("panel").getAnimations().map((one) => one.finished)); $("panel").querySelector("button").disabled = false;`,
      `<div id="panel"><button disabled>Details</button></div>${animated("#panel { height: 0; overflow: hidden; transition: height 0.3s }")}`,
    ),
    action: click,
    outcome: /Details/,
    until:
      "!document.querySelector('#panel button').disabled && document.getElementById('panel').offsetHeight === 80",
    rests: true,
  },
  {
    name: "drag that puts a list in another order",
    html: `<h1>Pattern</h1><ul id="list"><li><button id="go" draggable="true">Go</button></li><li><button>Middle</button></li><li><button id="onto">Onto</button></li></ul>
      <script>
        let dragged; addEventListener("dragstart", (event) => { dragged = event.target.closest("li"); event.dataTransfer.setData("text/plain", "x"); });
        addEventListener("dragover", (event) => event.preventDefault());
        addEventListener("drop", (event) => { event.preventDefault(); event.target.closest("li").after(dragged); });
      </script>`,
    action: { command: "drag_and_drop", onto: true },
    outcome: /Onto".*Go"/s,
    until: "document.getElementById('list').innerText.trim().split(/\\s+/).join() === 'Middle,Onto,Go'",
    rests: true,
  },
  {
    name: "click that sorts a table",
    html: onClick(
      `await get(60); const rows = [...$("rows").children]; for (const row of rows.reverse()) $("rows").append(row);`,
      `<ul id="rows"><li><button>Anna</button></li><li><button>Berta</button></li><li><button>Clara</button></li></ul>`,
    ),
    action: click,
    outcome: /Clara".*Berta".*Anna"/s,
    until: "document.getElementById('rows').innerText.trim().split(/\\s+/).join() === 'Clara,Berta,Anna'",
    rests: true,
  },
  comesToRest(
    "virtual list that fills while it scrolls",
    `<h1>Pattern</h1><button id="go">Go</button><div id="view" style="height: 200px; overflow: auto"><div id="tall" style="height: 4000px; position: relative"></div></div>
      <script>
        const draw = () => { const first = Math.floor($("view").scrollTop / 40); $("tall").innerHTML = Array.from({ length: 5 }, (_, n) => '<button style="position: absolute; top: ' + (first + n) * 40 + 'px">Row ' + (first + n) + '</button>').join(""); };
        $("view").onscroll = () => requestAnimationFrame(draw); draw();
        $("go").onclick = () => { $("view").scrollTop = 2000; };
      </script>`,
    /Row 52/,
  ),
  comesToRest(
    "list that scrolls smoothly to its end",
    `<h1>Pattern</h1><button id="go">Go</button><div id="view" style="height: 200px; overflow: auto"><div id="tall" style="height: 3000px; position: relative"></div></div>
      <script>
        const draw = () => { const first = Math.floor($("view").scrollTop / 40); $("tall").innerHTML = Array.from({ length: 4 }, (_, n) => '<button style="position: absolute; top: ' + (first + n) * 40 + 'px">Line ' + (first + n) + '</button>').join(""); };
        $("view").onscroll = draw; draw();
        $("go").onclick = () => $("view").scrollTo({ top: 1000, behavior: "smooth" });
      </script>`,
    /Line 27/,
  ),
  {
    name: "endless list that asks for more at its end",
    html: `<h1>Pattern</h1><button id="go">Go</button><div style="height: 3000px">Long</div><div id="end"></div><div id="out"></div>
      <script>let asked = false; new IntersectionObserver(async ([entry]) => { if (!entry.isIntersecting || asked) return; asked = true; await get(180); show("More rows"); }).observe($("end"));</script>`,
    action: { command: "scroll", params: { direction: "bottom" } },
    outcome: /More rows/,
    rests: true,
  },
];
