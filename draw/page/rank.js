// Levels: of the things in one group, what stands below what, and who stands left of whom.
// An element is a child of the group, a port (where a value enters or leaves the group),
// or a bend (where an edge passes a level). Links go from element to element; all links of
// one value share their bends.

const maxBends = 25000; // of a group: the longest edges go without when there were more

// rankElements sets the level of every element: below all that it uses.
function rankElements(els, links) {
  const next = els.map(() => []), waiting = els.map(() => 0);
  for (const l of links) {
    next[l.a.i].push(l.b.i);
    waiting[l.b.i]++;
  }
  const top = els.some(e => e.kind === 'enter') ? 1 : 0; // what enters stands above all else
  const level = els.map(e => (e.kind === 'enter' ? 0 : top)), done = els.map(() => false), ready = [];
  els.forEach((e, i) => waiting[i] === 0 && ready.push(i));
  let head = 0, scan = 0, left = els.length;
  while (left > 0) {
    if (head === ready.length) { // a cycle, by what passes have moved: the first one waits no longer
      while (done[scan]) scan++;
      ready.push(scan);
    }
    const i = ready[head++];
    if (done[i]) continue;
    done[i] = true;
    left--;
    for (const k of next[i]) {
      if (done[k]) continue;
      level[k] = Math.max(level[k], level[i] + 1);
      if (--waiting[k] === 0) ready.push(k);
    }
  }
  // Whatever uses nothing here stands right above its first user.
  const fed = els.map(() => false);
  for (const l of links) fed[l.b.i] = true;
  els.forEach((e, i) => {
    if (fed[i] || e.kind === 'enter') return;
    const below = next[i].reduce((least, k) => (els[k].kind === 'leave' ? least : Math.min(least, level[k])), Infinity);
    if (Number.isFinite(below)) level[i] = Math.max(top, below - 1);
  });
  let last = 0;
  els.forEach((e, i) => {
    e.level = level[i];
    if (e.kind !== 'leave') last = Math.max(last, e.level);
  });
  for (const e of els) if (e.kind === 'leave') e.level = last + 1;
}

// bend cuts links into segments between neighbouring levels, with bends in between.
function bend(els, links) {
  const bySource = new Map();
  for (const l of links) {
    if (!bySource.has(l.source)) bySource.set(l.source, []);
    bySource.get(l.source).push(l);
  }
  const segments = [];
  const groups = [...bySource.values()];
  const span = list => list.reduce((most, l) => Math.max(most, l.b.level - l.a.level), 0);
  let total = 0;
  for (const list of groups) total += Math.max(0, span(list) - 1);
  const longest = total <= maxBends ? Infinity : cutOff(groups.map(span), maxBends);
  for (const list of groups) {
    const bends = new Map();
    const at = (from, level) => { // the end of the segments of this value at a level
      if (level === from.level) return from;
      if (!bends.has(level)) {
        const above = at(from, level - 1);
        const b = { i: els.length, kind: 'bend', w: 0, h: 0, level, source: list[0].source };
        els.push(b);
        bends.set(level, b);
        segments.push({ a: above, b, source: list[0].source });
      }
      return bends.get(level);
    };
    for (const l of list.sort((x, y) => x.b.level - y.b.level)) {
      const d = l.b.level - l.a.level;
      if (d < 1) {
        segments.push({ a: l.a, b: l.b, source: l.source, back: true });
      } else if (d > longest) {
        segments.push({ a: l.a, b: l.b, source: l.source, far: true });
      } else {
        for (let k = l.a.level + 1; k < l.b.level; k++) at(l.a, k);
        segments.push({ a: at(l.a, l.b.level - 1), b: l.b, source: l.source });
      }
    }
  }
  return segments;
}

// cutOff returns the longest span with which all spans have at most so many bends.
function cutOff(spans, most) {
  let sum = 0;
  for (const s of spans.sort((a, b) => a - b)) {
    sum += Math.max(0, s - 1);
    if (sum > most) return Math.max(1, s - 1);
  }
  return Infinity;
}

// order sorts the elements of each level so that few segments cross.
function order(els, segments) {
  const levels = [];
  for (const e of els) (levels[e.level] = levels[e.level] || []).push(e);
  for (let k = 0; k < levels.length; k++) levels[k] = levels[k] || [];
  for (const e of els) {
    e.up = [];
    e.down = [];
  }
  for (const s of segments) {
    if (s.back || s.far) continue;
    s.a.down.push(s.b);
    s.b.up.push(s.a);
  }
  number(levels);
  if (levels.every(l => l.length <= 1)) return levels;
  const size = els.length;
  const rounds = size > 20000 ? 3 : size > 4000 ? 6 : 12;
  let best = null, least = Infinity;
  for (let round = 0; round < rounds && least > 0; round++) {
    sweep(levels, round % 2 === 0 ? 'up' : 'down');
    const n = crossings(levels);
    if (n < least) {
      least = n;
      best = levels.map(l => l.slice());
    }
  }
  number(best || levels);
  return best || levels;
}

function number(levels) {
  for (const l of levels) l.forEach((e, i) => { e.order = i; });
}

// sweep sorts level after level by the middle of the neighbours on one side.
function sweep(levels, side) {
  const list = side === 'up' ? levels : levels.slice().reverse();
  for (const l of list) {
    for (const e of l) {
      const near = e[side];
      e.mean = near.length ? near.reduce((sum, o) => sum + o.order, 0) / near.length : e.order;
    }
    l.sort((a, b) => a.mean - b.mean || a.order - b.order);
    l.forEach((e, i) => { e.order = i; });
  }
}

// crossings counts crossings of segments, by a tree of sums for each pair of levels.
function crossings(levels) {
  let total = 0;
  for (let k = 1; k < levels.length; k++) {
    const n = levels[k].length, sums = new Int32Array(n + 1), ends = [];
    for (const a of levels[k - 1]) for (const o of a.down.map(b => b.order).sort((x, y) => x - y)) ends.push(o);
    for (let i = 0; i < ends.length; i++) {
      let before = 0;
      for (let j = ends[i] + 1; j > 0; j -= j & -j) before += sums[j];
      total += i - before;
      for (let j = ends[i] + 1; j <= n; j += j & -j) sums[j]++;
    }
  }
  return total;
}
