// Painting: what a pane looks like. A scene is {v, pane, panes, state, heat}; size is the
// scale, area the part of the page that is to be seen, null for all of it.

const radius = 8, barWidth = 4;

// facts are what is written in a vertex: lines of {text, font, muted}.
function facts(v, x, p, state, heat) {
  const stage = v.panes[p], lines = [];
  const n = x.uid >= 0 ? stage.byUID.get(x.uid) : null;
  if (x.kind === 'node' || x.block.kind === 'holder') {
    if (!n) return [];
    lines.push({ text: n.label[0], font: fonts.title });
    for (const l of n.label.slice(1)) lines.push({ text: l, font: fonts.line, muted: true });
    if (x.block) lines.push({ text: plural(x.block.items.length - 1, 'region') + ', ' + plural(leaves(x.item, p).length - 1, 'node'), font: fonts.line, muted: true });
    if (state.types && n.type) lines.push({ text: n.type, font: fonts.type, muted: true });
  } else {
    lines.push({ text: nameOf(x), font: fonts.title });
    const sub = [short(x.block.type), plural(leaves(x.item, p).length, 'node') + (x.run ? ' each' : '')];
    lines.push({ text: sub.filter(Boolean).join(' · '), font: fonts.line, muted: true });
    const types = state.types ? [...new Set(x.out.filter(e => e.mask >> p & 1).flatMap(e => e.values).map(u => (stage.byUID.get(u) || {}).type))].filter(Boolean) : [];
    if (types.length) lines.push({ text: types[0] + (types.length > 1 ? ', …' : ''), font: fonts.type, muted: true });
  }
  const mark = heat && heat.of(x, p);
  if (mark) lines.push({ text: mark.text, font: fonts.small });
  return lines;
}

// nameOf is the path of a box or group without that of the group around it.
function nameOf(x) {
  const b = x.block;
  let around = x.parent;
  while (around && (around.kind === 'repeat' || around.kind === 'region')) around = around.parent;
  const outer = around && around.block ? around.block.path + '.' : '.';
  const cut = s => (outer !== '.' && s.startsWith(outer) ? s.slice(outer.length) : s);
  if (x.kind === 'repeat') return '';
  if (b.kind !== 'module') return b.kind === 'holder' ? '' : titleOf(b);
  if (!x.run) return cut(titleOf(b));
  const last = x.run.last.block.path;
  return cut(b.path) + (last === b.path ? '' : ' … ' + cut(last));
}

// measureAll gives vertices and titles their sizes.
function measureAll(v, state, heat) {
  for (const x of v.vertices) {
    x.lines = v.panes.map((_, p) => (x.mask >> p & 1 ? facts(v, x, p, state, heat) : []));
    let w = 56, count = 1;
    for (const lines of x.lines) {
      for (const l of lines) w = Math.max(w, Math.min(260, textWidth(l.text, l.font)) + 26 + (l === lines[0] && x.run ? 34 : 0));
      count = Math.max(count, lines.length);
    }
    x.w = Math.ceil(w);
    x.h = 16 + 15 * count;
  }
  for (const g of v.groups) {
    const p = 31 - Math.clz32(g.mask);
    g.title = nameOf(g);
    g.sub = g.kind === 'module' ? short(g.block.type) : '';
    if (g.kind === 'holder') g.title = v.panes[p].byUID.get(g.block.items[0].uid).label[0];
    g.pill = g.run ? '× ' + g.run.count : '';
    g.pillAt = (g.kind === 'repeat' ? 12 : 26) + (g.title ? textWidth(g.title, fonts.head) + 8 : 0) + (g.sub ? textWidth(g.sub, fonts.line) + 8 : 0);
    g.titleWidth = 34 + textWidth(g.title, fonts.head) + (g.sub ? 8 + textWidth(g.sub, fonts.line) : 0) + (g.pill ? 16 + textWidth(g.pill, fonts.small) : 0);
  }
}

// paint draws a scene.
function paint(ctx, scene, size, area) {
  const { v, pane } = scene, bit = 1 << pane;
  const seen = b => !area || b.x < area.x + area.w && b.x + b.w > area.x && b.y < area.y + area.h && b.y + b.h > area.y;
  for (const g of v.groups) if (g.parent && seen(g)) paintGroup(ctx, scene, g, size, g.mask & bit);
  paintEdges(ctx, scene, size, area);
  for (const g of v.groups) if (g.parent && size > 0.18 && g.mask & bit && seen(g)) paintTitle(ctx, g, size);
  for (const x of v.vertices) if (seen(x)) paintVertex(ctx, scene, x, size);
}

function paintGroup(ctx, scene, g, size, here) {
  ctx.beginPath();
  ctx.roundRect(g.x, g.y, g.w, g.h, 12);
  ctx.globalAlpha = here ? 1 : 0.35;
  ctx.fillStyle = theme.group;
  ctx.fill();
  ctx.strokeStyle = scene.state.selected === g.key ? theme.accent : theme.border;
  ctx.lineWidth = scene.state.selected === g.key ? 2 : 1;
  ctx.setLineDash(g.kind === 'repeat' || g.kind === 'region' ? [5, 4] : []);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

function paintTitle(ctx, g, size) {
  const y = g.y + 17;
  let x = g.x + 12;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  if (g.kind !== 'repeat') {
    ctx.beginPath(); // an open triangle, to close by
    ctx.moveTo(x, y - 2.5);
    ctx.lineTo(x + 8, y - 2.5);
    ctx.lineTo(x + 4, y + 3);
    ctx.closePath();
    ctx.fillStyle = theme.muted;
    ctx.fill();
    x += 14;
  }
  const write = (text, font, color) => {
    if (!text) return;
    const w = textWidth(text, font);
    for (const back of [theme.back, ...Array(g.depth).fill(theme.group)]) { // edges pass behind titles
      ctx.fillStyle = back;
      ctx.fillRect(x - 3, y - 8, w + 6, 16);
    }
    ctx.font = font;
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
    x += w + 8;
  };
  if (size < 0.52) {
    write(g.title, '600 ' + Math.round(Math.min(22, 9 / size)) + 'px ' + sans, theme.text);
    return;
  }
  write(g.title, fonts.head, theme.text);
  write(g.sub, fonts.line, theme.muted);
  if (g.pill) pill(ctx, g.pill, x, y);
}

function pill(ctx, text, x, y) {
  const w = textWidth(text, fonts.small) + 12;
  ctx.beginPath();
  ctx.roundRect(x, y - 8, w, 16, 8);
  ctx.fillStyle = theme.accent;
  ctx.fill();
  ctx.font = fonts.small;
  ctx.fillStyle = theme.surface;
  ctx.textAlign = 'center';
  ctx.fillText(text, x + w / 2, y + 0.5);
  ctx.textAlign = 'left';
  return w;
}

// edgeStatus is what became of an edge with a mask, from the left pane to the right.
function edgeStatus(scene, mask) {
  const { pane, panes } = scene;
  if (panes < 2) return 'same';
  if (pane > 0) return mask >> (pane - 1) & 1 ? 'same' : 'added';
  return mask >> 1 & 1 ? 'same' : 'removed';
}

function paintEdges(ctx, scene, size, area) {
  const { v, pane, state } = scene, bit = 1 << pane, toRight = v.toRight;
  const near = s => {
    if (!area) return true;
    const x1 = Math.min(s.x1, s.x2), x2 = Math.max(s.x1, s.x2), y1 = Math.min(s.y1, s.y2), y2 = Math.max(s.y1, s.y3);
    return toRight ? x1 < area.y + area.h && x2 > area.y && y1 < area.x + area.w && y2 > area.x : x1 < area.x + area.w && x2 > area.x && y1 < area.y + area.h && y2 > area.y;
  };
  const byLook = { same: [], added: [], removed: [], far: [] };
  for (const s of v.segments) if (s.mask & bit && near(s)) byLook[s.far ? 'far' : edgeStatus(scene, s.mask)].push(s);
  const dim = state.selected !== null && v.lit || state.hits ? 0.65 : 1;
  for (const look of ['far', 'same', 'removed', 'added']) {
    const color = look === 'added' || look === 'removed' ? theme[look] : theme.edge;
    ctx.globalAlpha = (look === 'far' ? 0.15 : 1) * dim;
    stroke(ctx, byLook[look], color, Math.max(1.3, 0.7 / size), toRight, size);
  }
  ctx.globalAlpha = dim;
  ctx.setLineDash([5, 4]);
  ctx.lineWidth = 1.3;
  ctx.strokeStyle = ctx.fillStyle = theme.edge;
  for (const e of v.edges) if (e.carried && e.mask & bit) loop(ctx, e, toRight);
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
  if (v.lit) stroke(ctx, v.lit.filter(s => s.mask & bit), theme.accent, Math.max(2.2, 1.4 / size), toRight, size);
}

function stroke(ctx, list, color, width, toRight, size) {
  if (!list.length) return;
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = width;
  trace(ctx, list, toRight, size > 0.15);
  if (size < 0.3) return;
  ctx.beginPath();
  for (const s of list) if (s.end) toRight ? arrow(ctx, s.y2, s.x2, true) : arrow(ctx, s.x2, s.y2, false);
  ctx.fill();
}

// vertexStatus is what became of what a vertex stands for: of a box, of all in it.
function vertexStatus(scene, x) {
  const { v, pane, panes } = scene;
  if (panes < 2) return 'same';
  if (!x.status) x.status = [];
  if (x.status[pane]) return x.status[pane];
  const [before, after] = pane > 0 ? [v.panes[pane - 1], v.panes[pane]] : [v.panes[0], v.panes[1]];
  const all = x.kind === 'node' ? [status(before, after, x.uid)] : members(x.block).map(uid => status(before, after, uid));
  const kinds = new Set(all.map(k => (k === 'rewired' ? 'same' : k)).filter(Boolean));
  const one = [...kinds];
  return (x.status[pane] = one.length === 1 ? one[0] : one.length ? 'changed' : 'same');
}

function paintVertex(ctx, scene, x, size) {
  const { v, pane, state } = scene, here = x.mask >> pane & 1;
  ctx.globalAlpha = state.hits && !state.hits.has(x) ? 0.25 : 1;
  if (!here) {
    ghost(ctx, x, size);
    return;
  }
  const st = vertexStatus(scene, x), diff = st !== 'same', mark = scene.heat && scene.heat.of(x, pane), heat = mark && mark.color ? mark : null;
  const cls = classOf(v, x, pane);
  const fill = diff ? theme[st + '-fill'] : heat ? heat.color : scene.panes > 1 ? theme.surface : theme.fill[cls];
  const line = diff ? theme[st] : scene.panes > 1 ? theme.strong : theme.line[cls];
  if (size < 0.12) {
    ctx.fillStyle = diff ? line : heat ? heat.color : theme.line[cls];
    ctx.fillRect(x.x, x.y, x.w, x.h);
    ctx.globalAlpha = 1;
    if (state.selected === x.key) outline(ctx, x, size);
    return;
  }
  if (x.run) stack2(ctx, x, fill, line);
  ctx.beginPath();
  ctx.roundRect(x.x, x.y, x.w, x.h, x.kind === 'node' && (cls === 'input' || cls === 'output') ? x.h / 2 : radius);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.strokeStyle = line;
  ctx.lineWidth = diff ? 1.8 : 1.1;
  ctx.stroke();
  if (size > 0.22) label(ctx, scene, x, size, cls);
  if (state.hits && state.hits.has(x)) ring(ctx, x, theme.hit, 3);
  if (state.selected === x.key || state.selected === x.uid) outline(ctx, x, size);
  if (diff && x.kind === 'node' && size > 0.3) sign(ctx, x, st);
  if (diff && x.kind === 'box' && size > 0.3) tally(ctx, scene, x);
  ctx.globalAlpha = 1;
}

function outline(ctx, x, size) { ring(ctx, x, theme.accent, Math.max(2.6, 2 / size)); }

function ring(ctx, x, color, width) {
  ctx.beginPath();
  ctx.roundRect(x.x - 3, x.y - 3, x.w + 6, x.h + 6, radius + 3);
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.stroke();
}

// ghost is where another pane has a node.
function ghost(ctx, x, size) {
  if (size < 0.12) return;
  ctx.globalAlpha *= 0.55;
  ctx.beginPath();
  ctx.roundRect(x.x, x.y, x.w, x.h, radius);
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 4]);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

// stack2 draws the edges of further repetitions behind a box.
function stack2(ctx, x, fill, line) {
  for (const d of [7, 3.5]) {
    ctx.beginPath();
    ctx.roundRect(x.x + d, x.y + d, x.w, x.h, radius);
    ctx.fillStyle = fill;
    ctx.fill();
    ctx.strokeStyle = line;
    ctx.lineWidth = 1;
    ctx.stroke();
  }
}

// classOf is the key of the colours of a vertex.
function classOf(v, x, p) {
  const n = x.uid >= 0 && v.panes[p].byUID.get(x.uid);
  return n ? n.cls : 'box';
}

function label(ctx, scene, x, size, cls) {
  const lines = x.lines[scene.pane], box = x.kind === 'box';
  if (box) {
    ctx.beginPath(); // a closed triangle, to open by
    ctx.moveTo(x.x + 9, x.y + 11.5);
    ctx.lineTo(x.x + 9, x.y + 19.5);
    ctx.lineTo(x.x + 14.5, x.y + 15.5);
    ctx.closePath();
    ctx.fillStyle = theme.muted;
    ctx.fill();
  } else if (cls !== 'input' && cls !== 'output') {
    ctx.beginPath();
    ctx.roundRect(x.x + 4, x.y + 6, 3.5, x.h - 12, 2);
    ctx.fillStyle = theme.line[cls];
    ctx.fill();
  }
  ctx.textBaseline = 'middle';
  ctx.textAlign = box ? 'left' : 'center';
  const at = box ? x.x + 20 : x.x + x.w / 2 + 2;
  if (size < 0.52) {
    far(ctx, x, lines[0], at, size);
  } else {
    let y = x.y + x.h / 2 - (lines.length - 1) * 7.5 + 0.5;
    for (const l of lines) {
      ctx.font = l.font;
      ctx.fillStyle = l.muted && !scene.heat ? theme.muted : theme.text;
      const room = x.w - 24 - (x.run && l === lines[0] ? 34 : 0);
      ctx.fillText(clipped(l.text, l.font, Math.max(room, 30)), at, y);
      y += 15;
    }
  }
  if (x.run) pill(ctx, '× ' + x.run.count, x.x + x.w - textWidth('× ' + x.run.count, fonts.small) - 19, x.y + 15.5);
  ctx.textAlign = 'left';
}

// far writes the first line only, as large as there is room: small text helps nobody.
function far(ctx, x, line, at, size) {
  if (!line) return;
  const room = x.w - (x.kind === 'box' ? 30 : 16);
  const px = Math.round(Math.min(9.5 / size, x.h * 0.5, 12.5 * room / textWidth(line.text, fonts.title)));
  const font = '600 ' + Math.max(11, px) + 'px ' + sans;
  ctx.font = font;
  ctx.fillStyle = theme.text;
  ctx.fillText(clipped(line.text, font, room), at, x.y + x.h / 2 + 0.5);
}

// sign says what a colour says, for those who do not see it.
function sign(ctx, x, st) {
  ctx.beginPath();
  ctx.roundRect(x.x + x.w - 9, x.y - 8, 17, 17, 8.5);
  ctx.fillStyle = theme[st];
  ctx.fill();
  ctx.font = fonts.sign;
  ctx.fillStyle = theme.surface;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.fillText(signs[st], x.x + x.w - 0.5, x.y + 0.5);
  ctx.textAlign = 'left';
}

// counted lists what became of how many nodes of a block.
function counted(block, before, after) {
  const count = { added: 0, removed: 0, changed: 0 };
  for (const uid of members(block)) {
    const st = status(before, after, uid);
    if (st in count) count[st]++;
  }
  return Object.entries(count).filter(([, n]) => n > 0);
}

// tally counts what became of the nodes in a box, at its upper right corner.
function tally(ctx, scene, x) {
  const { v, pane } = scene;
  const [before, after] = pane > 0 ? [v.panes[pane - 1], v.panes[pane]] : [v.panes[0], v.panes[1]];
  x.tally = x.tally || [];
  x.tally[pane] = x.tally[pane] || counted(x.block, before, after).filter(([k]) => k !== (pane ? 'removed' : 'added')).reverse();
  let right = x.x + x.w + 4;
  for (const [k, n] of x.tally[pane]) {
    const text = signs[k] + n, w = textWidth(text, fonts.sign) + 10;
    ctx.beginPath();
    ctx.roundRect(right - w, x.y - 8, w, 16, 8);
    ctx.fillStyle = theme[k];
    ctx.fill();
    ctx.font = fonts.sign;
    ctx.fillStyle = theme.surface;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillText(text, right - w / 2, x.y + 0.5);
    right -= w + 3;
  }
  ctx.textAlign = 'left';
}
