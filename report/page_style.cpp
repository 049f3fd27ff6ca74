#include "report/page_style.h"

#include <array>

#include "base/error.h"

namespace dragoman {

namespace {

constexpr std::string_view kStyle =
    R"css(:root { --page: #f6f7f9; --card: #fff; --text: #1b1f24; --quiet: #59636e; --line: #d8dee4; --mark: #ffe08a;
  --good: #116329; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0f1216; --card: #181c22; --text: #e6e9ee; --quiet: #9aa4b0; --line: #303842; --mark: #5c4a00;
    --good: #7ee2a0; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
body > input { position: fixed; top: 0; opacity: 0; pointer-events: none; }
main { max-width: 1320px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.5rem; margin: 0 0 4px; }
h2 { font-size: 1.15rem; margin: 36px 0 10px; }
h3 { font-size: .95rem; margin: 14px 0 6px; overflow-wrap: anywhere; }
.note, small, figcaption, dt, li > span, td:first-child { color: var(--quiet); }
small { display: block; font-size: .8rem; font-weight: normal; white-space: nowrap; }
nav { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: 10px 20px; align-items: center;
  padding: 10px 0; background: var(--page); }
nav label { cursor: pointer; user-select: none; }
.axes { display: flex; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: var(--card); }
.axes label { padding: 6px 14px; }
.axes label + label { border-left: 1px solid var(--line); }
.keys { display: flex; flex-wrap: wrap; gap: 4px 8px; min-width: 0; }
.keys label { display: flex; align-items: center; gap: 6px; padding: 5px 8px; border-radius: 8px; overflow-wrap: anywhere; }
.keys svg { flex: none; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); gap: 14px; }
figure, .sample, .scroll { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
figure { position: relative; margin: 0; padding: 12px 10px 6px; min-width: 0; }
figcaption { padding: 0 6px 6px; font-size: .9rem; font-weight: 600; color: var(--text); }
figure svg { display: block; width: 100%; height: auto; touch-action: pan-y; }
svg text { font: 11px system-ui, sans-serif; fill: var(--quiet); font-variant-numeric: tabular-nums; }
.grid path { stroke: var(--line); stroke-width: 1; fill: none; }
.grid .axis { stroke: var(--quiet); }
.curve { fill: none; stroke: var(--run); stroke-width: 1.8; stroke-linejoin: round; stroke-dasharray: var(--dash, none); }
.marks { fill: var(--run); stroke: var(--card); stroke-width: .8; }
.cursor { stroke: var(--quiet); stroke-dasharray: 2 3; }
.tip { position: absolute; z-index: 1; pointer-events: none; padding: 6px 9px; border-radius: 8px; font-size: .82rem; line-height: 1.4;
  background: var(--card); border: 1px solid var(--quiet); max-width: 90%; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; box-shadow: 0 2px 8px #0003; }
.tip b { color: var(--run); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 12px; text-align: left; vertical-align: top; overflow-wrap: anywhere; min-width: 110px; }
tr + tr > *, tbody tr:first-child > * { border-top: 1px solid var(--line); }
th[scope=row] { font-weight: normal; color: var(--quiet); min-width: 120px; }
.best { font-weight: 700; }
th[class*=run-color], h3[class*=run-color] { color: var(--run); }
.sample { padding: 12px 16px; margin-top: 12px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 14px; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
ol { list-style: none; margin: 0; padding: 0; }
.versions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 370px), 1fr)); gap: 4px 28px; }
li { display: grid; grid-template-columns: minmax(5em, max-content) 1fr; gap: 2px 12px; padding: 3px 0; }
li i { color: var(--quiet); }
li > span { font-size: .85rem; font-variant-numeric: tabular-nums; padding-top: .1em; }
li p { margin: 0; overflow-wrap: anywhere; }
.exact p::after { content: " ✓"; color: var(--good); font-weight: 700; }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: 0 2px; margin: 0 -2px; }
summary { cursor: pointer; color: var(--quiet); padding: 4px 0; }
details .scroll { margin-top: 8px; }
@media (max-width: 600px) {
  nav { position: static; }
  li { grid-template-columns: 1fr; padding: 5px 0; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
  .sample { padding: 10px 12px; }
  th, td { padding: 6px 9px; }
}
@media print { nav { position: static; } .tip { display: none; } }
)css";

struct RunColor {
  std::string_view light, dark;
};

/// Blue, vermilion, green, purple, ochre, grey: told apart with any kind of colour vision, after
/// Okabe and Ito's palette, each with a contrast of 3 to 1 or more to its background.
constexpr std::array kColors = {RunColor{"#0072b2", "#56b4e9"}, RunColor{"#d04a00", "#ff8a4c"},
                                RunColor{"#00875f", "#35c79a"}, RunColor{"#a8478c", "#e78fcb"},
                                RunColor{"#9a7400", "#e8c547"}, RunColor{"#4f5965", "#c3cad3"}};
/// Of the curves when the colours are used up.
constexpr std::array kDashes = {"none", "7 3", "2 3"};

constexpr std::string_view kAxisNames[] = {"by-updates", "by-tokens", "by-time"};

std::string axis_rules() {
  std::string css;
  for (const std::string_view axis : kAxisNames)
    css += join_text("#", axis, ":not(:checked) ~ main figure .", axis, " { display: none; }\n#",
                     axis, ":checked ~ main label[for=", axis,
                     "] { background: var(--text); color: var(--card); }\n#", axis,
                     ":focus-visible ~ main label[for=", axis,
                     "] { outline: 2px solid; outline-offset: -3px; }\n");
  return css;
}

std::string run_rules(std::size_t run) {
  const auto& [light, dark] = kColors[run % kColors.size()];
  const auto classes = join_text(".run-", run, ", .run-color-", run);
  return join_text(
      classes, " { --run: ", light, "; --dash: ", kDashes[run / kColors.size() % kDashes.size()],
      "; }\n@media (prefers-color-scheme: dark) { ", classes, " { --run: ", dark, "; } }\n",
      "#show-", run, ":not(:checked) ~ main .run-", run, " { display: none; }\n", "#show-", run,
      ":not(:checked) ~ main label[for=show-", run, "] { opacity: .4; }\n", "#show-", run,
      ":focus-visible ~ main label[for=show-", run, "] { outline: 2px solid; }\n");
}

constexpr std::string_view kScript = R"js('use strict';
const runs = JSON.parse(document.getElementById('data').textContent);
const names = runs.map((_, run) => document.querySelector(`label[for=show-${run}]`).textContent);
const shown = run => document.getElementById(`show-${run}`).checked;
const numbers = text => text.split(' ').map(Number);

const place = (axis, x) => {
  if (axis !== 'by-time') return `${x.toLocaleString('en')} ${axis === 'by-tokens' ? 'target tokens' : 'updates'}`;
  const seconds = Math.round(x), two = n => String(n).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};
const value = y => y.toLocaleString('en', { maximumSignificantDigits: 5 });

// The point of a run that is nearest to x; -1 where it has none.
const nearest = (points, axis, name, x) => {
  let best = -1;
  points[axis].forEach((at, i) => {
    if (at === null || points[name][i] === null) return;
    if (best < 0 || Math.abs(at - x) < Math.abs(points[axis][best] - x)) best = i;
  });
  return best;
};

const draw = (tag, attributes, parent) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  return parent.appendChild(element);
};

const clear = figure => figure.querySelectorAll('.tip, .pointer').forEach(element => element.remove());

const tell = (figure, svg, event) => {
  clear(figure);
  const axis = svg.classList[0], { type, name } = figure.dataset;
  const [left, right, top, bottom] = numbers(svg.dataset.area);
  const [low, high] = numbers(svg.dataset.x), [least, most] = numbers(svg.dataset.y);
  const box = svg.getBoundingClientRect();
  const at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
  const x = low + (Math.min(Math.max(at, left), right) - left) / (right - left) * (high - low);
  const found = runs.map((lines, run) => ({ run, points: lines[type], i: nearest(lines[type], axis, name, x) }))
    .filter(({ run, i }) => i >= 0 && shown(run));
  if (!found.length) return;
  const pointer = draw('g', { class: 'pointer' }, svg);
  const tip = document.createElement('div');
  tip.className = 'tip';
  const first = found[0].points[axis][found[0].i];
  tip.append(place(axis, first));
  for (const { run, points, i } of found) {
    const column = left + (points[axis][i] - low) / (high - low) * (right - left);
    const row = bottom - (points[name][i] - least) / (most - least) * (bottom - top);
    draw('path', { class: 'cursor', d: `M${column} ${top}V${bottom}` }, pointer);
    draw('circle', { class: `marks run-${run}`, cx: column, cy: row, r: 4 }, pointer);
    const line = tip.appendChild(document.createElement('div'));
    const key = line.appendChild(document.createElement('b'));
    key.className = `run-color-${run}`;
    key.textContent = value(points[name][i]);
    line.append(` ${names[run]}`);
    if (points[axis][i] !== first) line.append(`, ${place(axis, points[axis][i])}`);
  }
  figure.append(tip);
  const room = figure.clientWidth - tip.offsetWidth - 8;
  const beside = event.clientX - figure.getBoundingClientRect().left;
  tip.style.left = `${Math.max(8, Math.min(room, beside < figure.clientWidth / 2 ? beside + 14 : beside - tip.offsetWidth - 14))}px`;
  tip.style.top = '40px';
};

for (const figure of document.querySelectorAll('figure')) {
  for (const svg of figure.querySelectorAll('svg'))
    for (const kind of ['pointermove', 'pointerdown'])
      svg.addEventListener(kind, event => tell(figure, svg, event));
  figure.addEventListener('pointerleave', () => clear(figure));
}
)js";

}  // namespace

std::string page_style(std::size_t runs) {
  std::string css(kStyle);
  css += axis_rules();
  for (std::size_t run = 0; run < runs; ++run) css += run_rules(run);
  return css;
}

std::string training_script() { return std::string(kScript); }

}  // namespace dragoman
