// The reader's choices, which the page's address keeps, and the drawings that follow them.

const explanation = JSON.parse(byId('data').textContent);
const { model } = explanation;

// sentence: its number; source, output: the chosen tokens; kind, layer, heads ("all", "mean" or
// numbers), head (of the steps): the chosen attention; unit: words or pieces.
const view = {};

// { section, needs: names of choices, draw } in the order of the page.
const drawings = [];
const addDrawing = (section, needs, draw) =>
  drawings.push({ section: byId(section), needs, draw, stale: true });

const redraw = drawing => {
  drawing.stale = false;
  drawing.draw();
};

// Drawings out of sight are drawn when the browser has time, one after the other.
let idle;
const drawTheRest = () => {
  clearTimeout(idle);
  const next = drawings.find(drawing => drawing.stale);
  if (!next) return;
  idle = setTimeout(() => {
    if (next.stale) redraw(next);
    drawTheRest();
  }, 30);
};

const isInSight = section => {
  const { top, bottom } = section.getBoundingClientRect();
  return top < innerHeight && bottom > 0;
};

const drawStale = () => {
  for (const drawing of drawings) if (drawing.stale && isInSight(drawing.section)) redraw(drawing);
  drawTheRest();
};

// Sections that come into sight are drawn before the others.
const watchSections = () => {
  const watcher = new IntersectionObserver(drawStale);
  for (const section of new Set(drawings.map(drawing => drawing.section))) watcher.observe(section);
};

const change = changes => {
  if ('sentence' in changes) Object.assign(view, defaultsOf(changes.sentence), kept(), changes);
  else Object.assign(view, changes);
  for (const drawing of drawings)
    if (drawing.needs.some(name => name in changes)) drawing.stale = true;
  drawStale();
  keepInAddress(view, defaultsOf(view.sentence));
};

// What another sentence does not change.
const kept = () => {
  const { kind, layer, heads, head, unit } = view;
  return { kind, layer, heads, head, unit };
};

const redrawAll = () => {
  for (const drawing of drawings) drawing.stale = true;
  drawStale();
};
