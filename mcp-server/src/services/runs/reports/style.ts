/** The look of the HTML report, light and dark. Kept free of anything that loads. */
export const reportStyle = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5c6675;--line:#e2e6ec;--code:#f1f3f7;
--passed:#137a43;--failed:#b3261e;--error:#9a5b00;--other:#5c6675;--passed-bg:#e5f5ec;--failed-bg:#fdecea;--error-bg:#fff3df;--other-bg:#eceff3;--bar:#8aa4c8}
@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1a202a;--ink:#e6eaf0;--soft:#9aa5b5;--line:#2b3442;--code:#222a36;
--passed:#5fd394;--failed:#ff8a80;--error:#ffc266;--other:#9aa5b5;--passed-bg:#143524;--failed-bg:#43201e;--error-bg:#402f12;--other-bg:#28303c;--bar:#4f6c97}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:19px;margin:0;overflow-wrap:anywhere}
.soft{color:var(--soft)}.small{font-size:13px}
.counts{display:flex;flex-wrap:wrap;gap:12px;margin:20px 0 28px}
.count{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 18px;min-width:104px}
.count b{display:block;font-size:24px;line-height:1.2}
.passed b{color:var(--passed)}.failed b{color:var(--failed)}.error b{color:var(--error)}
section.run,section.requirements{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:22px 24px;margin:0 0 24px}
.title{display:flex;align-items:center;gap:12px;flex-wrap:wrap}
.badge{border-radius:999px;padding:2px 12px;font-size:13px;font-weight:600;white-space:nowrap}
.badge.passed{color:var(--passed);background:var(--passed-bg)}.badge.failed{color:var(--failed);background:var(--failed-bg)}
.badge.error,.badge.timeout{color:var(--error);background:var(--error-bg)}
.badge.flaky,.flaky b{color:var(--error)}.badge.flaky{background:var(--error-bg)}
p.rerun{margin:10px 0;color:var(--soft)}
ul.notices{margin:8px 0;padding-left:20px;overflow-wrap:anywhere}
.badge.cancelled,.badge.skipped,.badge.running,.badge.queued{color:var(--other);background:var(--other-bg)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:8px 20px;margin:16px 0}
dl.facts dt{color:var(--soft);font-size:12px}dl.facts dd{margin:0;overflow-wrap:anywhere}
.reason{border-left:4px solid var(--failed);background:var(--failed-bg);border-radius:0 8px 8px 0;padding:10px 14px;margin:14px 0;overflow-wrap:anywhere}
.reason.error,.reason.timeout{border-color:var(--error);background:var(--error-bg)}
.reason.cancelled{border-color:var(--other);background:var(--other-bg)}
table.finding{border-collapse:collapse;width:100%;margin:10px 0}
table.finding th{text-align:left;color:var(--soft);font-weight:600;padding:6px 14px 6px 0;white-space:nowrap;vertical-align:top;width:1%}
table.finding td{padding:6px 0;overflow-wrap:anywhere;border-bottom:1px solid var(--line);font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
table.finding tr:last-child td{border-bottom:0}
table.matrix{border-collapse:collapse;width:100%;margin-top:12px;font-size:13px}
table.matrix th,table.matrix td{text-align:left;vertical-align:top;padding:6px 10px 6px 0;overflow-wrap:anywhere;border-bottom:1px solid var(--line)}
table.matrix th{color:var(--soft)}table.matrix tr:last-child td{border-bottom:0}
.steps{margin-top:18px;border-top:1px solid var(--line)}
details.step{border-bottom:1px solid var(--line)}
details.step>summary{display:grid;grid-template-columns:44px 1fr 110px 84px 84px;gap:12px;align-items:center;padding:9px 4px;cursor:pointer;list-style:none}
details.step>summary::-webkit-details-marker{display:none}
details.step>summary:hover{background:var(--code)}
.n{color:var(--soft);font-variant-numeric:tabular-nums;text-align:right}
.label{overflow-wrap:anywhere;min-width:0}.label .soft{display:block;font-size:12px}
.track{height:6px;border-radius:3px;background:var(--code);position:relative;overflow:hidden}
.track i{position:absolute;top:0;bottom:0;border-radius:3px;background:var(--bar);min-width:2px}
.time{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.state{text-align:right}
.n::before{content:"▸";float:left;color:var(--soft)}details[open]>summary .n::before{content:"▾"}
.body{padding:4px 4px 18px 60px}
.shots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(280px,100%),1fr));gap:14px;margin:10px 0}
figure{margin:0;max-width:640px}figcaption{color:var(--soft);font-size:12px;margin-bottom:4px}
figure img{width:100%;height:auto;border:1px solid var(--line);border-radius:8px;display:block;background:#fff}
pre{background:var(--code);border-radius:8px;padding:10px 12px;margin:6px 0 12px;overflow:auto;max-height:320px;font:12.5px/1.45 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
h3{font-size:13px;margin:12px 0 0;color:var(--soft);font-weight:600}
footer{color:var(--soft);font-size:13px}
@media (max-width:640px){details.step>summary{grid-template-columns:40px 1fr 70px}.track,.state{display:none}.body{padding-left:8px}}
@media print{body{background:#fff}section.run{break-inside:avoid-page}}
`;
