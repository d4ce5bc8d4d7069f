// Details: all that is known about what is selected.

class Details {
  constructor(app) {
    this.app = app;
    this.panel = byID('details');
    byID('close').onclick = () => app.select(null);
  }

  refresh() {
    const { selected } = this.app.state, body = byID('facts');
    this.panel.hidden = selected === null;
    document.body.classList.toggle('detailed', selected !== null);
    body.replaceChildren();
    if (selected === null) return;
    const block = typeof selected === 'string' ? this.app.blockOf(selected) : null;
    if (block) this.block(body, block);
    else this.node(body, selected);
    this.panel.scrollTop = 0;
    byID('said').textContent = byID('what').textContent + ', ' + byID('which').textContent;
  }

  head(what, which, cls) {
    byID('what').textContent = what;
    byID('which').textContent = which;
    byID('swatch').style.background = 'var(--line-' + cls + ')';
  }

  node(body, uid) {
    const { app } = this, shown = app.shown, last = shown.length - 1;
    const p = shown.findLastIndex(s => s.byUID.has(uid)), stage = shown[p], n = stage.byUID.get(uid);
    this.head(n.operator ? short(n.operator) : n.opcode, '%' + n.name, n.cls);
    if (last > 0) this.became(body, uid, shown[Math.max(0, last - 1)], shown[last]);
    const dl = make('dl');
    body.append(dl);
    const fact = (name, value, extra) => value && dl.append(make('dt', {}, name), make('dd', extra || {}, value));
    const was = last > 0 && shown[last - 1].byUID.get(uid), is = last > 0 && shown[last].byUID.get(uid);
    const both = (name, field) => {
      if (was && is && was[field] !== is[field]) dl.append(make('dt', {}, name), make('dd', { class: 'mono' }, make('del', {}, was[field] || 'none'), make('ins', {}, is[field] || 'none')));
      else fact(name, n[field], { class: 'mono' });
    };
    both('type', 'type');
    both('attributes', 'attrs');
    both('operator', 'operator');
    fact('opcode', n.opcode + (classNames.has(n.cls) && n.operator ? ', ' + classNames.get(n.cls) : ''));
    if (n.target) both('target', 'target');
    both('weights', 'weights');
    fact('default', n.given);
    this.scope(dl, n);
    if (n.flops > 0 || n.bytes > 0) fact('cost', this.costs(stage, n.flops, n.bytes));
    for (const [name, o] of measured) if (o.marks.has(uid)) fact(name, o.marks.get(uid).t);
    this.tensors(body, n, stage);
    this.links(body, 'operands', n.args.map((u, i) => [u, n.operands[i] || '']), stage);
    this.links(body, 'users', users(stage, uid).map(u => [u, '']), stage);
    this.source(body, n.pos);
    this.history(body, uid, shown[last]);
    this.documentation(body, n);
  }

  // tensors shows the values of the weights of a node.
  tensors(body, n, stage) {
    const list = weightsOf(n);
    if (!tensors.size || !list.length) return;
    body.append(make('h3', {}, 'values of weights'));
    list.forEach(([path, type], i) => body.append(tensorBox(path, type, stage, i === 0)));
    if (data.origin) body.append(make('p', { class: 'muted' }, 'from ' + data.origin));
  }

  // documentation is that of the operator.
  documentation(body, n) {
    const doc = (data.docs || {})[n.operator];
    if (!doc) return;
    const box = make('details', { class: 'frame' });
    box.append(make('summary', {}, 'reference'), make('pre', { tabindex: '0' }, doc[1]));
    body.append(make('h3', {}, 'operator'), make('p', { id: 'doc' }, doc[0]), box);
  }

  // became says what the passes between the last two panes did to a node, and why.
  became(body, uid, before, after) {
    const st = status(before, after, uid);
    if (!signs[st] && st !== 'rewired') return;
    const how = st === 'changed' || st === 'rewired' ? ': ' + changes(before.byUID.get(uid), after.byUID.get(uid)).join(', ') : '';
    const by = [];
    for (let i = before.index + 1; i <= after.index; i++) {
      if (!['same', ''].includes(status(stages[i - 1], stages[i], uid))) by.push(stages[i].name);
    }
    const why = new Set(reasons(uid, after.index).filter(r => by.includes(r.stage.name) && r.kind !== 'refused' && r.why).map(r => r.why));
    body.append(make('p', { class: 'became ' + st }, make('b', {}, (signs[st] || '↷') + ' ' + st), (by.length ? ' by ' + by.join(', ') : '') + how, why.size ? make('br') : '', [...why].join('; ')));
  }

  scope(dl, n) {
    if (!n.scope) return;
    const link = make('button', { class: 'link' }, n.scope);
    link.onclick = () => {
      const path = findPath(this.app.tree, n.uid) || [], block = path.findLast(b => b.kind === 'module');
      if (block) this.app.goToBlock(block);
    };
    dl.append(make('dt', {}, 'module'), make('dd', {}, link));
  }

  costs(stage, flops, bytes) {
    const all = [...stage.byUID.values()];
    const share = (part, field) => {
      const sum = all.reduce((s, n) => s + Math.max(0, n[field]), 0);
      return sum ? ' (' + (100 * part / sum).toPrecision(2) + ' %)' : '';
    };
    const list = [amount(flops) + 'FLOP' + share(flops, 'flops'), amount(bytes) + 'B moved' + share(bytes, 'bytes')];
    if (flops > 0 && bytes > 0) list.push((flops / bytes).toPrecision(3) + ' FLOP a byte');
    const at = Object.entries(data.sizes || {}).map(([k, s]) => k + '=' + s).join(', ');
    return list.join(', ') + (at ? ' at ' + at : '');
  }

  links(body, title, list, stage) {
    list = list.filter(([u]) => u >= 0);
    if (!list.length) return;
    body.append(make('h3', {}, title));
    const ul = make('ul');
    for (const [u, name] of list.slice(0, 60)) {
      const n = stage.byUID.get(u);
      if (!n) continue;
      const b = make('button', { class: 'link' }, '%' + n.name);
      b.onclick = () => this.app.goTo(u);
      ul.append(make('li', {}, name ? make('span', { class: 'muted' }, name + ' ') : '', b, make('span', { class: 'mono muted' }, ' ' + (title === 'users' ? short(n.operator) || n.opcode : n.type))));
    }
    if (list.length > 60) ul.append(make('li', { class: 'muted' }, 'and ' + (list.length - 60) + ' more'));
    body.append(ul);
  }

  // source shows the line of the model that made a node, and who called it.
  source(body, pos) {
    const frames = stack(pos);
    if (!frames.length) return;
    body.append(make('h3', {}, 'source'));
    frames.forEach((f, i) => {
      const box = make('details', { class: 'frame' });
      box.open = i === 0;
      box.append(make('summary', {}, make('span', { class: 'mono' }, f.place), make('span', { class: 'muted' }, ' ' + f.func)));
      const pre = make('pre', { tabindex: '0' });
      for (let k = f.line - 3; k <= f.line + 3; k++) {
        if (f.lines[k] === undefined) continue;
        pre.append(make('span', { class: k === f.line ? 'here' : '' }, String(k).padStart(4) + '  ' + f.lines[k] + '\n'));
      }
      if (pre.childNodes.length) box.append(pre);
      body.append(box);
    });
  }

  // history is the log of the passes about a node, with reasons.
  history(body, uid, stage) {
    const list = reasons(uid, stage.index);
    if (!list.length) return;
    body.append(make('h3', {}, 'passes'));
    const ul = make('ul');
    for (const r of list.slice(0, 40)) {
      const what = r.kind === 'refused' ? 'left as it is' : r.made ? 'made' : r.kind;
      const b = make('button', { class: 'link' }, r.stage.name);
      b.onclick = () => this.app.show([stages[r.stage.index - 1], r.stage]);
      ul.append(make('li', {}, b, ': ' + what + (r.why ? ', ' + r.why : '')));
    }
    body.append(ul);
  }

  block(body, b) {
    const { app } = this, stage = app.shown[app.shown.length - 1];
    this.head(titleOf(b) || b.kind, b.type || b.kind, 'box');
    const list = [...new Set(members(b))].map(u => stage.byUID.get(u)).filter(Boolean);
    const count = new Map();
    for (const n of list) if (n.operator) count.set(short(n.operator), (count.get(short(n.operator)) || 0) + 1);
    const dl = make('dl');
    const fact = (name, value) => value && dl.append(make('dt', {}, name), make('dd', {}, value));
    fact('nodes', plural(list.length, 'node'));
    fact('operators', [...count].sort((x, y) => y[1] - x[1] || (x[0] < y[0] ? -1 : 1)).map(([k, n]) => n + ' ' + k).join(', '));
    const sum = f => list.reduce((s, n) => s + Math.max(0, n[f]), 0);
    if (sum('bytes')) fact('cost', this.costs(stage, sum('flops'), sum('bytes')));
    if (app.shown.length > 1) {
      const d = counted(b, app.shown[app.shown.length - 2], stage);
      fact('difference', d.map(([k, n]) => n + ' ' + k).join(', ') || 'none');
    }
    const open = make('button', { class: 'plain' }, app.state.open.has(b.key) ? 'close' : 'open');
    open.onclick = () => app.toggleKey(b.key);
    body.append(dl, open);
  }
}
