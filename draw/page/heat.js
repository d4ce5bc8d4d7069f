// Heat: overlays colour nodes by a number. Costs are in the data of every stage; what was
// measured comes with the page.

const unit = name => (name === 'FLOPs' ? 'FLOP' : 'B');

// heatOf returns an overlay of a visible graph, null for none.
function heatOf(v, name) {
  if (!name) return null;
  const known = new Map();
  const make = name === 'FLOPs' || name === 'bytes' ? costMark : measuredMark;
  const most = v.panes.map((_, p) => Math.max(1, v.vertices.reduce((m, x) => Math.max(m, make === costMark ? cost(v, x, p, name) : 0), 0)));
  return {
    name, most: Math.max(...most),
    of(x, p) {
      const key = x.id * 32 + p;
      if (!known.has(key)) known.set(key, make(v, x, p, name, most[p]));
      return known.get(key);
    },
  };
}

// cost sums a cost over the nodes of a vertex, each repetition for itself.
function cost(v, x, p, name) {
  const field = name === 'FLOPs' ? 'flops' : 'bytes', stage = v.panes[p];
  const list = x.kind === 'node' ? [x.uid] : leaves(x.item, p);
  let sum = 0;
  for (const uid of list) {
    const n = stage.byUID.get(uid);
    if (n && n[field] > 0) sum += n[field];
  }
  return sum;
}

function costMark(v, x, p, name, most) {
  const n = cost(v, x, p, name);
  if (!n) return null;
  return { text: amount(n) + unit(name), color: mix(Math.sqrt(n / most)) };
}

// measured has the overlays with marks of nodes, by name: that of the page, and those that
// the reader brings.
const measured = new Map();

function addOverlay(o) {
  measured.set(o.name, { marks: new Map(o.marks.map(m => [m.n, m])), legend: o.legend || [] });
}

if (data.overlay) addOverlay(data.overlay);

// hotter orders marks: texts alone, which have no heat, come last.
const hotter = (a, b) => !b || a.h > b.h;

// measuredMark is the hottest mark of the nodes of a vertex.
function measuredMark(v, x, p, name) {
  const { marks } = measured.get(name);
  let best = null;
  for (const uid of x.kind === 'node' ? [x.uid] : leaves(x.item, p)) {
    const m = marks.get(uid);
    if (m && hotter(m, best)) best = m;
  }
  return best && { text: best.t, color: best.h < 0 ? null : mix(best.h) };
}

// scaleOf lists degrees of heat with what they mean.
function scaleOf(heat) {
  if (measured.has(heat.name)) return measured.get(heat.name).legend.map(m => [m.h, m.t]);
  return [0.01, 0.25, 1].map(share => [Math.sqrt(share), amount(Math.round(heat.most * share)) + unit(heat.name)]);
}

// mix is a colour between cold and hot.
function mix(h) {
  const part = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const k = Math.min(1, Math.max(0, h || 0));
  return 'rgb(' + [0, 1, 2].map(i => Math.round(part(theme.cold, i) + (part(theme.hot, i) - part(theme.cold, i)) * k)).join(',') + ')';
}

// overlays are the names of those that there are.
function overlayNames() {
  return ['FLOPs', 'bytes', ...measured.keys()];
}
