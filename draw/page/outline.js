// The outline: the modules and nodes as a tree, of which only the rows in sight are in
// the document.

// brief is the name of a node without that of the module that it is listed in.
function brief(n, path) {
  const scope = path.replaceAll('.', '_') + '_';
  return path && n.name.startsWith(scope) ? n.name.slice(scope.length) : n.name;
}

const rowHeight = 24;

class Outline {
  constructor(app) {
    this.app = app;
    this.box = byID('outline');
    this.inner = make('div', { class: 'rows', role: 'tree', tabindex: '0', 'aria-label': 'modules' });
    this.box.append(this.inner);
    this.rows = [];
    this.box.addEventListener('scroll', () => this.draw());
    this.inner.addEventListener('click', e => {
      const row = this.rows[+(e.target.closest('.row') || { dataset: {} }).dataset.i];
      if (!row) return;
      if (e.target.closest('.times')) app.unfold(row.times);
      else if (e.target.closest('.caret')) app.toggleKey(row.block.key);
      else this.choose(row);
    });
    this.inner.addEventListener('keydown', e => this.key(e));
  }

  choose(row) {
    if (row.hit || !row.block || row.block.kind === 'holder') this.app.goTo(row.uid);
    else this.app.goToBlock(row.block);
  }

  // refresh lists the rows: what search has found, or the open part of the tree.
  refresh() {
    const { app } = this;
    this.rows = [];
    if (app.found) for (const uid of app.found) this.rows.push({ uid, level: 0, hit: true });
    else this.add(app.tree, 0);
    this.inner.style.height = this.rows.length * rowHeight + 'px';
    this.drawn = '';
    this.draw();
  }

  add(block, level) {
    const hidden = new Set(), times = new Map();
    for (const run of block.runs) {
      if (this.app.state.noFold) break;
      const folded = !this.app.state.unfolded.has(run[0][0].key);
      times.set(run[0][0], { run, folded });
      if (folded) run.slice(1).flat().forEach(i => hidden.add(i));
    }
    for (const item of block.items) {
      if (hidden.has(item)) continue;
      const b = item.block;
      this.rows.push({ uid: b && b.kind !== 'holder' ? -1 : b ? b.items[0].uid : item.uid, block: b, item, path: block.path, level, times: times.get(item) });
      if (b && this.app.state.open.has(b.key)) this.add(b, level + 1);
    }
  }

  draw() {
    const top = Math.floor(this.box.scrollTop / rowHeight), count = Math.ceil(this.box.clientHeight / rowHeight) + 1;
    const key = top + ' ' + count + ' ' + this.app.state.selected;
    if (key === this.drawn) return;
    this.drawn = key;
    this.inner.replaceChildren(...this.rows.slice(top, top + count).map((row, i) => this.element(row, top + i)));
  }

  element(row, i) {
    const { app } = this, b = row.block, stage = app.shown[app.shown.length - 1];
    const key = b && b.kind !== 'holder' ? b.key : row.uid;
    const selected = app.state.selected === key || app.state.selected === (row.item || {}).key;
    const e = make('div', { class: 'row' + (selected ? ' selected' : ''), role: 'treeitem', 'aria-level': String(row.level + 1), 'aria-selected': String(selected), 'data-i': String(i) });
    e.style.top = i * rowHeight + 'px';
    e.style.paddingLeft = 8 + 14 * row.level + 'px';
    if (b) e.setAttribute('aria-expanded', String(app.state.open.has(b.key)));
    e.append(make('span', { class: 'caret' }, b ? (app.state.open.has(b.key) ? '▾' : '▸') : ''));
    if (row.uid >= 0) {
      const n = app.nodeOf(row.uid);
      e.append(make('span', { class: 'dot', style: 'background:var(--line-' + n.cls + ')' }), make('span', { class: 'name' }, row.hit ? n.name : brief(n, row.path)), make('span', { class: 'muted' }, n.operator ? short(n.operator) : ''));
    } else {
      e.append(make('span', { class: 'name module' }, this.title(row)), make('span', { class: 'muted' }, short(b.type)));
    }
    if (row.times) e.append(make('button', { class: 'times', title: row.times.folded ? 'show every repetition' : 'show one repetition' }, '× ' + row.times.run.length));
    if (app.shown.length > 1) this.badges(e, row, app.shown[app.shown.length - 2], stage);
    return e;
  }

  title(row) {
    const b = row.block, outer = b.parent && b.parent.path ? b.parent.path + '.' : '';
    const cut = s => (outer && s.startsWith(outer) ? s.slice(outer.length) : s);
    if (!row.times || !row.times.folded || row.times.run[0].length > 1) return cut(titleOf(b));
    const last = row.times.run[row.times.run.length - 1][0].block;
    return cut(titleOf(b)) + (last.path === b.path ? '' : ' … ' + cut(last.path));
  }

  badges(e, row, before, after) {
    const list = row.uid >= 0 ? [[status(before, after, row.uid), 0]] : (row.block.counts = row.block.counts || counted(row.block, before, after));
    for (const [k, n] of list) if (signs[k]) e.append(make('span', { class: 'badge ' + k, title: k }, signs[k] + (n || '')));
  }

  // key moves among the rows, as in any tree.
  key(e) {
    const { app } = this;
    let i = this.rows.findIndex(r => r.block && r.block.kind !== 'holder' ? r.block.key === app.state.selected : r.uid === app.state.selected);
    const row = this.rows[i], open = row && row.block && app.state.open.has(row.block.key);
    if (e.key === 'ArrowDown') i++;
    else if (e.key === 'ArrowUp') i = Math.max(0, i - 1);
    else if (e.key === 'Home') i = 0;
    else if (e.key === 'End') i = this.rows.length - 1;
    else if (row && row.block && (e.key === 'ArrowRight' && !open || e.key === 'ArrowLeft' && open || e.key === 'Enter')) return this.stop(e, () => app.toggleKey(row.block.key));
    else return;
    this.stop(e, () => {
      if (!this.rows[i]) return;
      this.choose(this.rows[i]);
      this.scrollTo(i);
    });
  }

  stop(e, act) {
    e.preventDefault();
    e.stopPropagation();
    act();
  }

  // scrollTo brings a row into sight.
  scrollTo(i) {
    const y = i * rowHeight, box = this.box;
    if (y < box.scrollTop) box.scrollTop = y;
    else if (y + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = y + rowHeight - box.clientHeight;
    this.draw();
  }

  follow() {
    const i = this.rows.findIndex(r => r.uid === this.app.state.selected || r.block && r.block.key === this.app.state.selected);
    if (i >= 0) this.scrollTo(i);
    else this.draw();
  }
}
