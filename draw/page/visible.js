// What is to be drawn of a union: groups that are open, boxes for those that are not,
// repetitions once, and the edges between what is left.

// visible returns {root, vertices, edges, at}: at[p] has the vertex of each node of pane p.
function visible(tree, state) {
  const v = { tree, panes: tree.panes, vertices: [], groups: [], edges: [], at: tree.panes.map(() => new Map()),
    canon: tree.panes.map(() => new Map()), turns: tree.panes.map(() => new Map()) };
  v.root = makeGroup(v, state, tree, null, '', 'root');
  fill(v, state, v.root, tree);
  makeEdges(v);
  return v;
}

function makeGroup(v, state, block, parent, key, kind) {
  const g = { id: 'g' + v.groups.length, key, kind, block, parent, children: [], mask: block.mask, depth: parent ? parent.depth + 1 : 0, run: null, group: true };
  v.groups.push(g);
  return g;
}

// fill gives a group what is to be seen of a block.
function fill(v, state, g, block) {
  const inRun = new Map();
  for (const run of block.runs) {
    if (state.noFold || state.unfolded.has(run[0][0].key)) continue;
    run.forEach((items, k) => items.forEach(i => inRun.set(i, { run, k })));
  }
  const done = new Set();
  for (const item of block.items) {
    const r = inRun.get(item);
    if (!r) {
      show(v, state, g, item, null);
    } else if (!done.has(r.run)) {
      done.add(r.run);
      repeat(v, state, g, block, r.run);
    }
  }
}

// repeat shows the first repetition of a run, and lets its nodes stand for the others.
function repeat(v, state, g, block, run) {
  const info = { key: run[0][0].key, count: run.length, last: run[run.length - 1][0] };
  v.panes.forEach((_, p) => {
    const first = run[0].flatMap(i => leaves(i, p));
    run.forEach((items, k) => items.flatMap(i => leaves(i, p)).forEach((uid, i) => {
      const turns = v.turns[p].get(uid) || [];
      v.turns[p].set(uid, turns.concat([[info.key, k]]));
      if (k > 0) v.canon[p].set(uid, first[i]);
    }));
  });
  if (run[0].length === 1 && run[0][0].block && run[0][0].block.kind === 'module') {
    show(v, state, g, run[0][0], info);
    return;
  }
  const around = makeGroup(v, state, block, g, info.key + '*', 'repeat');
  around.mask = run[0].reduce((m, i) => m | i.mask, 0);
  around.run = info;
  for (const item of run[0]) show(v, state, around, item, null);
  g.children.push(around);
}

function show(v, state, g, item, run) {
  const b = item.block;
  if (!b) {
    addVertex(v, g, { kind: 'node', key: item.key, uid: item.uid, mask: item.mask, run: null, block: null });
    return;
  }
  if (!state.open.has(b.key)) {
    const holder = b.kind === 'holder';
    const box = addVertex(v, g, { kind: 'box', key: b.key, uid: holder ? b.items[0].uid : -1, mask: item.mask, run, block: b, item });
    v.panes.forEach((_, p) => leaves(item, p).forEach(uid => v.at[p].set(uid, box)));
    return;
  }
  const inner = makeGroup(v, state, b, g, b.key, b.kind);
  inner.run = run;
  fill(v, state, inner, b);
  g.children.push(inner);
}

function addVertex(v, g, vertex) {
  Object.assign(vertex, { id: v.vertices.length, parent: g, group: false, in: [], out: [] });
  v.vertices.push(vertex);
  g.children.push(vertex);
  if (vertex.uid >= 0) v.panes.forEach((s, p) => s.byUID.has(vertex.uid) && vertex.mask >> p & 1 && v.at[p].set(vertex.uid, vertex));
  return vertex;
}

// vertexOf returns what stands for a node of a pane.
function vertexOf(v, p, uid) {
  for (let c = v.canon[p].get(uid); c !== undefined; c = v.canon[p].get(uid)) uid = c;
  return v.at[p].get(uid);
}

// vertexAnywhere looks in all panes, the last first.
function vertexAnywhere(v, uid) {
  for (let p = v.panes.length - 1; p >= 0; p--) {
    const found = vertexOf(v, p, uid);
    if (found) return found;
  }
  return null;
}

// turnsOf lists the repetitions that a node is in, outermost first.
function turnsOf(v, p, uid) {
  let list = v.turns[p].get(uid) || [];
  const c = v.canon[p].get(uid);
  if (c !== undefined) {
    const inner = turnsOf(v, p, c);
    if (inner.length > list.length) list = list.concat(inner.slice(list.length));
  }
  return list;
}

// carried tells that a value goes from one repetition to another.
function carried(v, p, from, to) {
  const a = turnsOf(v, p, from), b = turnsOf(v, p, to);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i][0] !== b[i][0]) return false;
    if (a[i][1] !== b[i][1]) return true;
  }
  return false;
}

function makeEdges(v) {
  const known = new Map();
  const add = (p, from, to, inner) => {
    const a = vertexOf(v, p, from), b = vertexOf(v, p, to);
    if (!a || !b || a === b) return;
    const back = carried(v, p, from, to);
    const key = a.id * 2 * v.vertices.length + b.id * 2 + (back ? 1 : 0);
    let e = known.get(key);
    if (!e) {
      e = { from: a, to: b, carried: back, inner, mask: 0, values: [] };
      known.set(key, e);
      v.edges.push(e);
      a.out.push(e);
      b.in.push(e);
    }
    e.mask |= 1 << p;
    if (e.values.length < 4 && !e.values.includes(from)) e.values.push(from);
  };
  v.panes.forEach((stage, p) => {
    for (const uid of stage.order) for (const a of stage.byUID.get(uid).args) if (a >= 0) add(p, a, uid, false);
  });
  for (const g of v.groups) {
    if (g.kind !== 'holder') continue;
    for (const region of g.block.items.slice(1)) {
      v.panes.forEach((stage, p) => {
        for (const i of region.block.items) {
          const n = i.block ? null : stage.byUID.get(i.uid);
          if (n && n.opcode === 'placeholder') add(p, g.block.items[0].uid, i.uid, true);
        }
      });
    }
  }
}

// reveal opens everything around a node, and unfolds nothing: a repetition is shown by
// the first one. It tells whether anything was closed.
function reveal(tree, state, uid) {
  const closed = (findPath(tree, uid) || []).filter(b => !state.open.has(b.key));
  for (const b of closed) state.open.add(b.key);
  return closed.length > 0;
}

// findPath lists the blocks around a node, without the tree itself.
function findPath(block, uid) {
  if (!block.paths) {
    block.paths = new Map();
    const visit = (b, path) => {
      for (const i of b.items) {
        if (i.block) visit(i.block, path.concat([i.block]));
        else if (!block.paths.has(i.uid)) block.paths.set(i.uid, path);
      }
    };
    visit(block, []);
  }
  return block.paths.get(uid);
}
