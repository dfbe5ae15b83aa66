const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What XML 1.0 does not allow, escaped or not: control characters, lone surrogates, and two non-characters. */
const notXml =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes any text safe as the content or a quoted attribute of HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replace(notXml, "\ufffd").replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

export const badge = (word: string) =>
  `<span class="badge ${escapeMarkup(word)}">${escapeMarkup(word)}</span>`;

/** The style sheet of the HTML report, light and dark. Kept free of anything that loads. */
export const reportStyle = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5c6675;--line:#e2e6ec;--code:#f1f3f7;
--passed:#137a43;--failed:#b3261e;--error:#9a5b00;--other:#5c6675;--passed-bg:#e5f5ec;--failed-bg:#fdecea;--error-bg:#fff3df;--other-bg:#eceff3;--bar:#8aa4c8}
@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1a202a;--ink:#e6eaf0;--soft:#9aa5b5;--line:#2b3442;--code:#222a36;
--passed:#5fd394;--failed:#ff8a80;--error:#ffc266;--other:#9aa5b5;--passed-bg:#143524;--failed-bg:#43201e;--error-bg:#402f12;--other-bg:#28303c;--bar:#4f6c97}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:16px;margin:0;min-width:0;overflow-wrap:anywhere}
.soft{color:var(--soft)}.small{font-size:13px}
.none{font-size:18px;margin:28px 0}
.counts{display:flex;flex-wrap:wrap;gap:10px;margin:20px 0 28px}
.count{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:8px 16px;min-width:84px}
.count b{display:block;font-size:22px;line-height:1.2}
.passed b{color:var(--passed)}.failed b{color:var(--failed)}.error b,.flaky b{color:var(--error)}
details.test,section.requirements{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:0 18px;margin:0 0 8px}
section.requirements{padding:18px;margin-top:24px}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
details.test>summary{display:grid;grid-template-columns:auto 1fr auto;gap:4px 12px;align-items:center;padding:11px 0}
details.test[open]{padding-bottom:18px;margin-bottom:20px}
.badge{border-radius:999px;padding:1px 10px;font-size:13px;font-weight:600;white-space:nowrap;justify-self:start;color:var(--other);background:var(--other-bg)}
.badge.passed{color:var(--passed);background:var(--passed-bg)}.badge.failed{color:var(--failed);background:var(--failed-bg)}
.badge.error,.badge.timeout,.badge.flaky{color:var(--error);background:var(--error-bg)}
p.rerun{margin:10px 0;color:var(--soft)}
ul.notices{margin:8px 0;padding-left:20px;overflow-wrap:anywhere}
details.activity{margin:8px 0}table.log{border-collapse:collapse;width:100%;font-size:13px}table.log pre{max-height:160px}
table.log td{vertical-align:top;padding:4px 10px 4px 0;overflow-wrap:anywhere;border-bottom:1px solid var(--line)}tr.fault td{color:var(--failed)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:8px 20px;margin:16px 0}
dl.facts dt{color:var(--soft);font-size:12px}dl.facts dd{margin:0;overflow-wrap:anywhere}
.reason{grid-column:1/-1;border-left:4px solid var(--other);background:var(--other-bg);border-radius:0 8px 8px 0;padding:6px 12px;margin:4px 0;overflow-wrap:anywhere;min-width:0}
.reason.failed{border-color:var(--failed);background:var(--failed-bg)}
.reason.error,.reason.timeout,.reason.flaky{border-color:var(--error);background:var(--error-bg)}
details:not([open])>summary .reason{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
summary.soft::before{content:"▸ "}details[open]>summary.soft::before{content:"▾ "}
.fault{margin:6px 0;overflow-wrap:anywhere}
table.finding{border-collapse:collapse;width:100%;margin:10px 0}
table.finding th{text-align:left;color:var(--soft);font-weight:600;padding:6px 14px 6px 0;white-space:nowrap;vertical-align:top;width:1%}
table.finding td{padding:6px 0;overflow-wrap:anywhere;border-bottom:1px solid var(--line);font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
table.finding tr:last-child td{border-bottom:0}
table.matrix{border-collapse:collapse;width:100%;margin-top:12px;font-size:13px}
table.matrix th,table.matrix td{text-align:left;vertical-align:top;padding:6px 10px 6px 0;overflow-wrap:anywhere;border-bottom:1px solid var(--line)}
table.matrix th{color:var(--soft);overflow-wrap:normal}table.matrix tr:last-child td{border-bottom:0}
.steps{margin-top:18px;border-top:1px solid var(--line)}
details.step{border-bottom:1px solid var(--line)}details.step:last-child{border-bottom:0}
details.step>summary{display:grid;grid-template-columns:14px auto 1fr 110px 72px;gap:10px;align-items:center;padding:7px 4px}
details.step>summary:hover{background:var(--code)}
details.step>summary::before{content:"▸";color:var(--soft)}details.step[open]>summary::before{content:"▾"}
.label{overflow-wrap:anywhere;min-width:0}.label .soft{display:block;font-size:12px}
.track{height:6px;border-radius:3px;background:var(--code);position:relative;overflow:hidden}
.track i{position:absolute;top:0;bottom:0;border-radius:3px;background:var(--bar);min-width:2px}
.time{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;color:var(--soft)}
.body{padding:2px 4px 14px 24px}
.parts{border-left:2px solid var(--line);padding-left:10px;margin:4px 0 10px}
.shots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(280px,100%),1fr));gap:14px;margin:10px 0}
figure{margin:0;max-width:640px}figure.main{max-width:none;margin:10px 0}figcaption{color:var(--soft);font-size:12px;margin-bottom:4px;overflow-wrap:anywhere}
figcaption .finding,figcaption .fault{color:var(--ink);font-size:13px}
svg.store{position:absolute;width:0;height:0}
svg.shot{width:100%;height:auto;max-height:90vh;border:1px solid var(--line);border-radius:8px;display:block;background:#fff}
svg rect{fill:none;vector-effect:non-scaling-stroke}svg .halo{stroke:#fff;stroke-width:4px}svg .area{stroke:#d7263d;stroke-width:2px}
pre{background:var(--code);border-radius:8px;padding:10px 12px;margin:6px 0 12px;overflow:auto;max-height:320px;font:12.5px/1.45 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
h3{font-size:13px;margin:12px 0 0;color:var(--soft);font-weight:600}
footer{color:var(--soft);font-size:13px}
@media (max-width:640px){main{padding:20px 10px 48px}details.test,section.requirements{padding-left:12px;padding-right:12px}
details.step>summary{grid-template-columns:14px auto 1fr auto}.track{display:none}.body{padding-left:8px}.parts{padding-left:6px}
dl.facts{grid-template-columns:repeat(auto-fill,minmax(140px,1fr))}table.matrix{font-size:12px}table.matrix th,table.matrix td{padding-right:6px}}
@media print{body{background:#fff}details.test{break-inside:avoid-page}}
`;
