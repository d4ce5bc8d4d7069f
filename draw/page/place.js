// Places: how far to the right each element of a group stands, and how far down.

const gap = { node: 22, bend: 12, level: 30 };

// across gives the elements of all levels a place: near their neighbours on other levels,
// in order and not on top of each other.
function across(levels, size) {
  for (const l of levels) {
    let x = 0;
    l.forEach((e, i) => {
      if (i > 0) x += apart(l[i - 1], e);
      e.x = x;
    });
    const middle = l.length ? (l[0].x + l[l.length - 1].x) / 2 : 0;
    for (const e of l) e.x -= middle;
  }
  if (levels.every(l => l.length <= 1)) {
    straight(levels);
    return;
  }
  const rounds = size > 20000 ? 4 : size > 4000 ? 8 : 24;
  for (let round = 0; round < rounds; round++) {
    const sides = round >= rounds - 2 ? ['up', 'down'] : [round % 2 === 0 ? 'up' : 'down'];
    const list = round % 2 === 0 ? levels : levels.slice().reverse();
    for (const l of list) settle(l, sides);
  }
}

// straight puts elements of which each has a level to itself below each other.
function straight(levels) {
  for (const l of levels) for (const e of l) e.x = e.up.length ? e.up[0].x + out(e.up[0]) - into(e, e.up[0]) : -(e.pin || 0);
}

// apart is the distance of the middles of two neighbours.
function apart(a, b) {
  return (a.w + b.w) / 2 + (a.kind === 'bend' || b.kind === 'bend' ? gap.bend : gap.node);
}

// out and into are where a link leaves the middle of an element, and where it enters.
const out = e => (e.leaves ? e.leaves : 0);
const into = (e, from) => (e.enters ? e.enters.get(from.source) || 0 : 0);

// settle moves the elements of a level to where their neighbours want them, as far as
// there is room: least squares with a least distance, by merging what would overlap.
function settle(level, sides) {
  const runs = [];
  let offset = 0;
  level.forEach((e, i) => {
    if (i > 0) offset += apart(level[i - 1], e);
    const [want, weight] = wish(e, sides);
    let run = { sum: (want - offset) * weight, weight, from: i, offset };
    e.shift = offset;
    while (runs.length && runs[runs.length - 1].sum / runs[runs.length - 1].weight > run.sum / run.weight) {
      const before = runs.pop();
      run = { sum: before.sum + run.sum, weight: before.weight + run.weight, from: before.from };
    }
    runs.push(run);
  });
  runs.forEach((run, k) => {
    const end = k + 1 < runs.length ? runs[k + 1].from : level.length;
    for (let i = run.from; i < end; i++) level[i].x = run.sum / run.weight + level[i].shift;
  });
}

// wish is where the neighbours of an element want it, and how much. Long edges want to be
// straight most of all.
function wish(e, sides) {
  let sum = 0, weight = 0;
  for (const side of sides) {
    for (const o of e[side]) {
      const w = e.kind === 'bend' && o.kind === 'bend' || e.kind === 'child' && o.kind === 'child' ? 8 : 1;
      sum += w * (side === 'up' ? o.x + out(o) - into(e, o) : o.x + into(o, e) - out(e));
      weight += w;
    }
  }
  return weight ? [sum / weight, weight] : [e.x, 0.1];
}

// down gives the levels their heights, and room for edges that go far across.
function down(levels, segments) {
  const far = levels.map(() => 0);
  for (const s of segments) {
    if (!s.back && !s.far) far[s.b.level] = Math.max(far[s.b.level], Math.abs(s.a.x + out(s.a) - s.b.x - into(s.b, s.a)));
  }
  let y = 0;
  levels.forEach((l, k) => {
    const height = l.reduce((most, e) => Math.max(most, e.h), 0);
    if (k > 0) y += gap.level + Math.min(50, far[k] / 12);
    for (const e of l) {
      if (e.kind === 'bend') e.h = height;
      e.y = y + (height - e.h) / 2;
    }
    y += height;
  });
  return y;
}
