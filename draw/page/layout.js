// Layout: every group is laid out by itself, from the inside out; edges that enter or
// leave it have a port at its border.

const pad = { side: 18, top: 34, bottom: 16, back: 26 };

// layout gives every vertex and group of v a place, and v.segments the curves between
// them. Values flow down, or to the right.
function layout(v, toRight) {
  v.toRight = toRight;
  for (const g of v.groups) Object.assign(g, { links: new Map(), enter: new Map(), leave: new Map(), back: 0 });
  for (const e of v.edges) if (!e.carried) connect(e);
  for (const e of v.edges) {
    if (!e.carried) continue;
    e.around = common(e.from.parent, e.to.parent);
    e.lane = e.around.back++;
  }
  layoutGroup(v.root, toRight);
  const { root } = v;
  root.x = 0;
  root.y = 0;
  v.segments = [];
  settleGroup(v, root, 0, 0);
  v.width = toRight ? root.h : root.w;
  v.height = toRight ? root.w : root.h;
  if (!toRight) return;
  for (const b of [...v.vertices, ...v.groups]) [b.x, b.y] = [b.y, b.x];
  for (const g of v.groups) [g.w, g.h] = [g.h, g.w];
}

// connect enters an edge into the groups that it passes, as links between children and
// ports. What passes several edges of one value passes them once.
function connect(e) {
  const top = common(e.from.parent, e.to.parent), source = e.from.id;
  let from = e.from;
  for (let g = e.from.parent; g !== top; g = g.parent) {
    if (!g.leave.has(source)) g.leave.set(source, { kind: 'leave', w: 8, h: 0, source });
    link(g, source, from, g.leave.get(source), e.mask);
    from = g;
  }
  const entered = [];
  for (let g = e.to.parent; g !== top; g = g.parent) entered.push(g);
  let to = e.to;
  for (const g of entered) {
    if (!g.enter.has(source)) g.enter.set(source, { kind: 'enter', w: 8, h: 0, source });
    link(g, source, g.enter.get(source), to, e.mask);
    to = g;
  }
  link(top, source, from, to, e.mask);
}

let linkIDs = 0;

function link(g, source, a, b, mask) {
  for (const end of [a, b]) if (!end.linkID) end.linkID = ++linkIDs;
  const key = source + ' ' + a.linkID + ' ' + b.linkID, known = g.links.get(key);
  if (known) known.mask |= mask;
  else g.links.set(key, { source, from: a, to: b, mask });
}

function common(a, b) {
  while (a.depth > b.depth) a = a.parent;
  while (b.depth > a.depth) b = b.parent;
  while (a !== b) {
    a = a.parent;
    b = b.parent;
  }
  return a;
}

// layoutGroup gives what is in a group places relative to its corner, and the group its size.
function layoutGroup(g, toRight) {
  for (const c of g.children) if (c.group) layoutGroup(c, toRight);
  const els = [], of = new Map();
  const element = (thing, kind) => {
    const e = { i: els.length, kind, thing, w: toRight && !thing.group ? thing.h : thing.w, h: toRight && !thing.group ? thing.w : thing.h, source: thing.group ? -1 : thing.source ?? thing.id };
    if (thing.group) {
      Object.assign(e, { enters: new Map(), leaves: 0, many: true });
      for (const [source, p] of thing.enter) e.enters.set(source, p.at - thing.w / 2);
      e.exits = new Map([...thing.leave].map(([source, p]) => [source, p.at - thing.w / 2]));
      if (e.exits.size === 1) e.leaves = [...e.exits.values()][0];
    }
    of.set(thing, e);
    els.push(e);
  };
  for (const c of g.children) element(c, 'child');
  for (const p of g.enter.values()) element(p, 'enter');
  for (const p of g.leave.values()) element(p, 'leave');
  const links = [...g.links.values()].map(l => ({ source: l.source, a: of.get(l.from), b: of.get(l.to), mask: l.mask }));
  rankElements(els, links);
  const count = els.length;
  const segments = bend(els, links);
  masks(segments, links);
  const levels = order(els, segments);
  across(levels, els.length);
  const height = down(levels, segments);
  measure(g, els, count, height, toRight);
  g.segments = segments;
  for (const p of [...g.enter.values(), ...g.leave.values()]) p.at = of.get(p).x;
  for (let i = 0; i < count; i++) {
    const e = els[i];
    if (e.kind !== 'child') continue;
    e.thing.x = e.x - e.w / 2;
    e.thing.y = e.y;
  }
}

// measure gives a group its size and moves its elements into it.
function measure(g, els, count, height, toRight) {
  let left = Infinity, right = -Infinity;
  for (const e of els) {
    left = Math.min(left, e.x - e.w / 2);
    right = Math.max(right, e.x + e.w / 2);
  }
  if (left > right) left = right = 0;
  const root = g.kind === 'root';
  const head = root ? 0 : pad.top, lanes = g.back ? pad.back + 8 * (g.back - 1) : 0;
  const before = root ? 24 : toRight ? pad.side : head; // along the flow
  const side = toRight ? head : pad.side;
  const least = root || toRight ? 0 : g.titleWidth || 0;
  const inner = Math.max(right - left + lanes, least - 2 * pad.side);
  const dx = side - left + (root ? 24 : 0) + (inner - (right - left + lanes)) / 2;
  for (const e of els) {
    e.x += dx;
    e.y += before;
  }
  g.w = inner + (toRight ? head + pad.bottom : 2 * pad.side) + (root ? 48 : 0);
  g.h = height + before + (root ? 24 : toRight ? pad.side : pad.bottom);
  if (toRight && !root) {
    const missing = (g.titleWidth || 0) - g.h;
    if (missing > 0) {
      g.h += missing;
      for (const e of els) e.y += missing / 2;
    }
  }
}

// masks gives segments the panes that they are in: those of all links that pass them.
function masks(segments, links) {
  const into = new Map();
  for (const s of segments) {
    s.mask = 0;
    if (!into.has(s.b)) into.set(s.b, []);
    into.get(s.b).push(s);
  }
  for (const l of links) {
    let at = l.b;
    for (;;) {
      const s = (into.get(at) || []).find(x => x.source === l.source);
      if (!s || (s.mask & l.mask) === l.mask) break;
      s.mask |= l.mask;
      at = s.a;
      if (at === l.a) break;
    }
  }
}

// settleGroup moves a group and all in it to their places on the page, and collects the
// segments of edges.
function settleGroup(v, g, x, y) {
  g.x = x;
  g.y = y;
  for (const c of g.children) {
    if (c.group) {
      settleGroup(v, c, x + c.x, y + c.y);
    } else {
      c.x += x;
      c.y += y;
    }
  }
  ports(g.segments);
  for (const s of g.segments) v.segments.push(curve(s, x, y, g));
  g.segments = null;
}

// ports spreads the links into a vertex over its upper side, in the order in which they come.
function ports(segments) {
  const into = new Map();
  for (const s of segments) {
    if (s.b.kind !== 'child' || s.b.many) continue;
    if (!into.has(s.b)) into.set(s.b, []);
    into.get(s.b).push(s);
  }
  for (const [e, list] of into) {
    list.sort((a, b) => a.a.x - b.a.x);
    const step = Math.min(16, e.w * 0.7 / list.length);
    list.forEach((s, i) => { s.port = (i - (list.length - 1) / 2) * step; });
  }
}

// curve is a segment in the coordinates of the page: from (x1, y1) to (x2, y2), then
// straight to y3 past the things on the level of a bend.
function curve(s, x, y, g) {
  const { a, b } = s;
  const from = a.exits ? a.exits.get(s.source) || 0 : 0;
  const to = b.many ? b.enters.get(s.source) || 0 : s.port || 0;
  return { source: s.source, mask: s.mask, far: s.far, back: s.back, group: g, end: b.kind === 'child' && !b.many ? b.thing : null,
    x1: x + a.x + from, y1: y + (a.kind === 'enter' && g.kind !== 'root' ? 0 : a.y + a.h), x2: x + b.x + to,
    y2: y + (b.kind === 'leave' ? g.h : b.y), y3: y + b.y + (b.kind === 'bend' ? b.h : 0), bend: b.kind === 'bend', a, b };
}
