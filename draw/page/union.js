// The union of the graphs that are shown: one tree of modules that has the nodes of all
// of them, so that a node stands at the same place in every pane. Bit p of a mask tells
// that pane p has something.

// union returns the tree of some stages.
function union(shown) {
  const root = unite(shown.map(s => s.root), null, '');
  root.panes = shown;
  compress(root);
  return root;
}

// unite makes one block of those of the panes, -1 for none.
function unite(ids, parent, key) {
  const first = blocks[ids.find(id => id >= 0)];
  const out = { key, kind: first.kind, path: first.path, name: first.name, type: first.type, call: first.call, parent, mask: 0, items: [], runs: [] };
  const byKey = new Map(), head = { next: null }, whole = new Set();
  for (const id of ids) if (id >= 0) for (const raw of blocks[id].items) if (raw < 0 && !shell(raw)) whole.add(moduleKey(raw));
  const keyOf = raw => (raw >= 0 ? 'n' + raw : shell(raw) && !whole.has(moduleKey(raw)) ? 'n' + inner(raw) : moduleKey(raw));
  ids.forEach((id, p) => {
    if (id < 0) return;
    out.mask |= 1 << p;
    let at = head;
    for (const raw of blocks[id].items) {
      const k = keyOf(raw);
      let entry = byKey.get(k);
      if (!entry) {
        entry = { key: k, uid: k[0] === 'n' ? +k.slice(1) : -1, ids: ids.map(() => -1), mask: 0, next: at.next };
        at.next = entry;
        byKey.set(k, entry);
      }
      entry.mask |= 1 << p;
      if (entry.uid < 0) entry.ids[p] = -1 - raw;
      at = entry;
    }
  });
  for (let e = head.next; e; e = e.next) {
    const item = { key: key + '/' + e.key, mask: e.mask, uid: e.uid, block: null };
    if (item.uid < 0) item.block = unite(e.ids, out, item.key);
    e.item = item;
    out.items.push(item);
  }
  out.runs = commonRuns(ids, byKey, keyOf);
  return out;
}

// shell tells that a block is a module that is there for its only node: the node is shown
// without it, unless another pane has more in it.
function shell(raw) {
  const b = blocks[-1 - raw];
  return b.kind === 'module' && b.items.length === 1 && (b.items[0] >= 0 || shell(b.items[0]));
}

// inner is the only node of a shell.
function inner(raw) {
  while (raw < 0) raw = blocks[-1 - raw].items[0];
  return raw;
}

// moduleKey names a block among its neighbours, the same in all stages. Keys of nodes
// begin with n, those of blocks do not.
function moduleKey(raw) {
  const b = blocks[-1 - raw];
  if (b.kind === 'holder') return 'h' + b.items[0];
  return (b.kind === 'module' ? 'm:' : 'r:') + (b.name || b.path) + '#' + b.call;
}

// commonRuns finds the repetitions that all panes agree on: a run is the list of its
// repetitions, each a list of items.
function commonRuns(ids, byKey, keyOf) {
  const perPane = ids.filter(id => id >= 0).map(id => repetitions(blocks[id], keyOf));
  const runs = [];
  for (const run of perPane[0] || []) {
    const all = perPane.map(list => list.find(r => r.some((group, k) => group.some(key => run[k] && run[k].includes(key)))));
    if (all.some(r => !r || r.length !== run.length)) continue;
    const groups = run.map((_, k) => [...new Set(all.flatMap(r => r[k]))]);
    const flat = groups.flat();
    if (new Set(flat).size !== flat.length || flat.some(key => !everywhere(key, byKey, perPane, all))) continue;
    runs.push(groups.map(g => g.map(key => byKey.get(key).item)));
  }
  return runs;
}

function repetitions(block, keyOf) {
  const list = [];
  for (let i = 0; i < block.runs.length; i += 3) {
    const [at, period, count] = block.runs.slice(i, i + 3);
    list.push(Array.from({ length: count }, (_, k) => block.items.slice(at + k * period, at + (k + 1) * period).map(keyOf)));
  }
  return list;
}

// everywhere tells that no pane has an item that is in a run of others outside of its own.
function everywhere(key, byKey, perPane, all) {
  const panes = byKey.get(key).ids.length;
  let k = 0;
  for (let p = 0; p < panes && k < all.length; p++, k++) {
    if (byKey.get(key).mask >> p & 1 && !all[k].some(g => g.includes(key))) return false;
  }
  return true;
}

// compress removes modules that hold nothing but one other module.
function compress(block) {
  for (const item of block.items) {
    if (!item.block) continue;
    let b = item.block;
    while (b.kind === 'module' && b.items.length === 1 && b.items[0].block && b.items[0].block.kind === 'module') b = b.items[0].block;
    b.parent = block;
    item.block = b;
    compress(b);
  }
}

// leaves lists the nodes of an item that a pane has, in order.
function leaves(item, pane, out = []) {
  if (!(item.mask >> pane & 1)) return out;
  if (!item.block) out.push(item.uid);
  else for (const i of item.block.items) leaves(i, pane, out);
  return out;
}

// members lists all nodes of a block, of any pane.
function members(block, out = []) {
  for (const i of block.items) {
    if (i.block) members(i.block, out);
    else out.push(i.uid);
  }
  return out;
}

// titleOf names a block, with its call where the module is called several times.
function titleOf(block) {
  if (block.kind === 'region') return block.name;
  if (block.kind === 'holder') return '';
  return block.path + (block.call ? ' (call ' + (block.call + 1) + ')' : '');
}
