// The style sheet of the pages.

/** Colours on paper and on a light screen. */
const LIGHT = `--page:#fff;--text:#1c1e21;--muted:#596069;--rule:#d9dcdf;--soft:#f4f5f6;--work:#2d6496;--gate:#9a4d00;--gate-light:#f3c48f;--wait:#737a82;--cut:#e6e8ea;
--input:#2d6496;--output:#12324f;--cache-read:#7fa8cc;--cache-write:#7a5195;--cost:#3d7048;--good:#226b33;--bad:#ad1f24;`;
const DARK = `--page:#15171a;--text:#e6e6e3;--muted:#a2a8af;--rule:#34383d;--soft:#1e2125;--work:#5d9bd4;--gate:#b76a12;--gate-light:#ffc27a;--wait:#979da4;--cut:#2a2e33;
--input:#5d9bd4;--output:#b9d9f5;--cache-read:#37618a;--cache-write:#c3a1dd;--cost:#6fae7c;--good:#79c58a;--bad:#ff8f8a;`;

export const STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
body{margin:0 auto;padding:3rem 1.5rem 4rem;max-width:62rem;background:var(--page);color:var(--text);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;overflow-wrap:anywhere}
header{border-bottom:1px solid var(--rule);padding-bottom:1.5rem}
h1{font-size:1.7rem;line-height:1.25;font-weight:650;margin:.3rem 0 .8rem;letter-spacing:-.01em;text-wrap:balance}
h2{font-size:1.15rem;font-weight:650;margin:2.8rem 0 .8rem}
h3{font-size:1rem;font-weight:650;margin:1.6rem 0 .3rem}
p{margin:.5rem 0}
.kicker,.muted,.note,dt,th,footer{color:var(--muted)}
.kicker,.note,footer{font-size:.875rem}
.outcome{font-weight:650;margin:0}
.mark{display:inline-block;min-width:1.2em}
.good{color:var(--good)}.bad{color:var(--bad)}
.text{white-space:pre-wrap;margin:.3rem 0 0;max-width:46rem}
dl{margin:0}dd{margin:0}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;font-size:.9375rem;margin-top:1.1rem}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:1.1rem 1.5rem;margin-top:1.6rem}
.figures dt{font-size:.875rem}
.figures dd{font-size:1.25rem;font-weight:600;line-height:1.35}
.figures .unknown{font-size:.875rem;font-weight:400}
.figures .more{display:block;font-size:.8125rem;font-weight:400;color:var(--muted)}
.figures .wide{grid-column:span 2}
.times{white-space:nowrap}
table{border-collapse:collapse;width:100%;font-size:.875rem;line-height:1.45}
th,td{text-align:start;vertical-align:top;padding:.45rem .9rem .45rem 0;border-bottom:1px solid var(--rule)}
th:last-child,td:last-child{padding-inline-end:0}
thead th{overflow-wrap:normal;font-weight:500;vertical-align:bottom;line-height:1.25}
tbody th{font-weight:550;color:var(--text)}
.n{text-align:end;font-variant-numeric:tabular-nums;overflow-wrap:normal}
td.n:not(.cost){white-space:nowrap}
@media not screen,(min-width:44.01rem){table.stack th:first-child{min-width:7rem}td.models{min-width:7rem}td.cost{min-width:5rem}.word{overflow-wrap:normal}}
tr:has(.sum)>*{border-bottom:0;font-weight:650}
th.part{font-weight:400;color:var(--muted);padding-top:.8rem}
.d1{padding-inline-start:1rem}.d2{padding-inline-start:2rem}.d3{padding-inline-start:3rem}
.tag{display:block;font-size:.92em;font-weight:400;color:var(--muted)}
svg{display:block;overflow:visible}
svg.patterns{position:absolute}
svg text{font-size:11px;fill:var(--muted)}
rect.work,rect.visit,.range{fill:var(--work)}
rect.gate{fill:url(#p-gate);stroke:var(--gate);stroke-width:1}
.gate-ground{fill:var(--gate)}.gate-line{stroke:var(--gate-light);stroke-width:1.5}
rect.wait{fill:url(#p-wait);stroke:var(--wait);stroke-width:.75}
.hatch{stroke:var(--wait);stroke-width:1.6}
rect.pause,rect.open{fill:var(--page);stroke:var(--wait)}
rect.branch{fill:var(--cut);stroke:var(--work)}
rect.pause{stroke-dasharray:3 2}
rect.begin,rect.share{fill:var(--text)}
rect.cut,rect.ground{fill:var(--cut)}
rect.over{fill:transparent}
.tick rect{fill:var(--muted)}
svg .letter{font-weight:650;fill:var(--text)}
.timeline{margin:1rem 0 0}
.row{display:grid;grid-template-columns:12.5rem minmax(0,1fr);gap:0 1.2rem}
.row .label{font-size:.875rem;line-height:1.3;padding:.65rem 0 .35rem;box-shadow:0 1px var(--rule)}
.row>svg{height:100%;min-height:2.2rem;box-shadow:0 1px var(--rule)}
.row.heading .label{color:var(--muted)}
.row.axis>*{box-shadow:none}
figcaption{margin-top:.9rem}
ul{list-style:none;margin:.2rem 0 0;padding:0;font-size:.8125rem;line-height:1.5}
.legend,.cuts{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem}
li svg{display:inline-block;vertical-align:-2px}
rect.gap{fill:var(--page)}
td.bar{width:34%}
td.bar svg{margin-top:.15rem}
rect.input{fill:var(--input)}rect.output{fill:var(--output)}rect.cacheRead{fill:var(--cache-read)}
rect.cacheWrite{fill:var(--page);stroke:var(--cache-write);stroke-width:1.5}
rect.cost{fill:var(--cost)}
details{margin-top:1.2rem;font-size:.9375rem}
td details{margin-top:.2rem}
summary{cursor:pointer;color:var(--muted);font-size:.875rem}
:focus-visible{outline:2px solid var(--work);outline-offset:2px}
pre{margin:.3rem 0 .2rem;padding:.6rem .8rem;background:var(--soft);font:.8125rem/1.45 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;white-space:pre-wrap}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--rule)}
.interval{display:block;width:100%;max-width:14rem;margin-top:.25rem}
ul.pairs{list-style:disc;padding-inline-start:1.2rem;font-size:1rem}
a{color:var(--work)}
@media (min-width:44.01rem){section[aria-labelledby=tasks] table{table-layout:fixed}}
@media not screen,(max-width:54rem){table{font-size:.75rem}th,td{padding-inline-end:.5rem}}
@media screen and (max-width:44rem){
body{padding:1.5rem 1rem 3rem}
h1{font-size:1.35rem}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.45rem}
.figures{grid-template-columns:repeat(2,minmax(0,1fr))}
.row{grid-template-columns:minmax(0,1fr)}
.row .label{padding:.45rem 0 0;box-shadow:none}
.row.axis .label,.row.heading>svg,.rare{display:none}
table.stack,table.stack tbody{display:block;font-size:.875rem}
table.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.stack tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.05rem 1rem;border-bottom:1px solid var(--rule);padding:.5rem 0}
table.stack tr:has(.sum){border-bottom:0}
table.stack th,table.stack td{border:0;padding:0;text-align:start;white-space:normal}
table.stack th{grid-column:1/-1}
table.stack tr:has(.part){border:0;padding-bottom:0}
table.stack td:empty{display:none}
table.stack td[data-of]{display:flex;gap:.5rem}
table.stack td[data-of]::before{content:attr(data-of);color:var(--muted);flex:none;font-weight:400}
table.stack td[data-of]>div{min-width:0}
table.stack td.wide{grid-column:1/-1}
table.stack td.bar{display:block;width:auto;grid-column:1/-1}
table.stack td.bar::before{margin-inline-end:.5rem}
table.stack td.bar>div{display:contents}
table.stack .d1,table.stack .d2,table.stack .d3{padding-inline-start:0}
}
@media print{
@page{margin:16mm}
:root{color-scheme:light;${LIGHT}}
body{padding:0;max-width:none;font-size:10pt}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
h2,h3,summary{break-after:avoid}
tr,.row,.timeline,.figures>div,pre{break-inside:avoid}
.legend{break-after:avoid}
table{font-size:8pt}
thead{display:table-header-group}
details::details-content{content-visibility:visible;display:block;height:auto}
.row{grid-template-columns:9.5rem minmax(0,1fr)}
}
`;
