// The application: its state, and what changes it.

class App {
  constructor() {
    const o = data.open;
    this.state = { open: new Set(), unfolded: new Set(), noFold: o.noFold, types: !o.noTypes, toRight: o.leftRight, overlay: o.overlay, selected: null, hits: null };
    this.found = null;
    this.shown = stages.length > 1 ? [stages[0], stages[stages.length - 1]] : [stages[0]];
    this.panes = [];
    this.tree = union(this.shown);
    this.openSome(o.depth);
    this.outline = new Outline(this);
    this.details = new Details(this);
    this.minimap = new Minimap(this);
    this.passes = new Passes(this);
    this.search = new Search(this);
    this.bar();
    listenToKeys(this);
    addEventListener('resize', () => this.resize());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.retheme());
    readTheme();
    this.makePanes();
    this.relayout();
    this.fitView();
    this.fromHash();
    addEventListener('hashchange', () => this.fromHash());
  }

  // openSome opens so many levels of modules, or as many as are easy to look at.
  openSome(depth) {
    const easy = 40, size = b => b.items.length - (this.state.noFold ? 0 : b.runs.reduce((n, run) => n + run.slice(1).flat().length, 0));
    const inside = list => list.flatMap(b => b.items).map(i => i.block).filter(Boolean);
    let count = size(this.tree), level = inside([this.tree]);
    for (let k = 1; level.length; k++) {
      count += level.reduce((n, b) => n + size(b) - 1, 0);
      if (depth > 0 ? k >= depth : count > easy) return;
      for (const b of level) this.state.open.add(b.key);
      level = inside(level);
    }
  }

  scene(pane) { return { v: this.v, pane, panes: this.shown.length, state: this.state, heat: this.heat }; }

  makePanes() {
    this.panes = this.shown.map((_, i) => new Pane(this, i));
    byID('panes').replaceChildren(...this.panes.map(p => p.element));
    for (const p of this.panes) p.drawBar();
    document.body.classList.toggle('compared', this.shown.length > 1);
    this.passes.refresh();
    for (const p of this.panes) p.fit();
  }

  // show shows stages, one in each pane: so many as there may be room for.
  show(list) {
    list = list.slice(-8);
    this.shown = list;
    this.tree = union(list);
    const narrow = this.panes[0].width;
    this.makePanes();
    camera.x += (this.panes[0].width - narrow) / 2; // what was in the middle stays there
    if (typeof this.state.selected === 'number' && !list.some(s => s.byUID.has(this.state.selected))) this.state.selected = null;
    this.found = find(this.shown, this.search.input.value);
    this.relayout();
    this.details.refresh();
  }

  // relayout lays everything out anew. What is called anchor keeps its place on the screen.
  relayout(anchor) {
    const old = anchor && this.thingAt(anchor), before = old && [old.x * camera.k + camera.x, old.y * camera.k + camera.y];
    this.v = visible(this.tree, this.state);
    this.heat = heatOf(this.v, this.state.overlay);
    measureAll(this.v, this.state, this.heat);
    layout(this.v, this.state.toRight);
    const now = before && this.thingAt(anchor);
    if (now) {
      camera.x = before[0] - now.x * camera.k;
      camera.y = before[1] - now.y * camera.k;
    }
    this.search.mark();
    this.light();
    this.outline.refresh();
    this.legend();
    this.minimap.refresh();
    this.draw();
  }

  // thingAt finds the vertex or group of a key.
  thingAt(key) {
    return this.v.vertices.find(x => x.key === key || x.uid >= 0 && x.uid === key) || this.v.groups.find(g => g.key === key && g.parent) || (typeof key === 'number' ? vertexAnywhere(this.v, key) : null);
  }

  blockOf(key) {
    const search = b => {
      if (b.key === key) return b;
      for (const i of b.items) if (i.block && key.startsWith(i.key)) {
        const found = search(i.block);
        if (found) return found;
      }
      return null;
    };
    return search(this.tree);
  }

  nodeOf(uid) {
    for (let p = this.shown.length - 1; p >= 0; p--) if (this.shown[p].byUID.has(uid)) return this.shown[p].byUID.get(uid);
    return null;
  }

  draw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      for (const p of this.panes) p.draw();
      this.minimap.draw();
      byID('scale').textContent = Math.round(camera.k * 100) + ' %';
    });
  }

  resize() {
    for (const p of this.panes) p.fit();
    this.outline.draw();
    this.draw();
  }

  pan(dx, dy) {
    camera.x += dx;
    camera.y += dy;
    this.draw();
  }

  zoom(factor, cx = this.panes[0].width / 2, cy = this.panes[0].height / 2) {
    const next = Math.min(4, Math.max(0.003, camera.k * factor));
    camera.x = cx - (cx - camera.x) * next / camera.k;
    camera.y = cy - (cy - camera.y) * next / camera.k;
    camera.k = next;
    this.draw();
  }

  fitView() {
    const { width, height } = this.panes[0], { v } = this;
    camera.k = Math.min(width / v.width, height / v.height, 1.2);
    const readable = 0.5, [across, room] = v.toRight ? [v.height, height] : [v.width, width];
    if (camera.k < readable && across * readable < room * 1.6) camera.k = Math.min(1, Math.max(readable, room / across * 0.98)); // a long graph begins where it begins
    camera.x = (width - v.width * camera.k) / 2;
    camera.y = Math.max(0, (height - v.height * camera.k) / 2);
    if (v.toRight && v.width * camera.k > width) camera.x = 0;
    this.draw();
  }

  centre(x, y) {
    camera.x = this.panes[0].width / 2 - x * camera.k;
    camera.y = this.panes[0].height / 2 - y * camera.k;
    this.draw();
  }

  // select selects what was clicked: a vertex, the title of a group, or null.
  select(thing, toggle) {
    if (toggle) {
      this.toggle(thing);
      return;
    }
    this.state.selected = !thing || thing.kind === 'repeat' ? null : thing.kind === 'node' || thing.kind === 'box' && thing.uid >= 0 ? thing.uid : thing.block.key;
    this.selected();
  }

  selected() {
    this.light();
    const narrow = this.panes[0].width;
    this.details.refresh();
    this.resize();
    if (this.panes[0].width !== narrow) this.keepInSight();
    this.outline.follow();
    const n = typeof this.state.selected === 'number' && this.nodeOf(this.state.selected);
    history.replaceState(null, '', location.href.split('#')[0] + (n ? '#' + encodeURIComponent(n.name) : ''));
  }

  // light finds the edges of what is selected.
  light() {
    const { selected } = this.state, x = selected === null ? null : this.thingAt(selected);
    this.v.lit = x && !x.group ? [...new Set([...x.in, ...x.out].filter(e => !e.carried).flatMap(e => segmentsOf(this.v, e)))] : null;
  }

  keepInSight() {
    const x = this.thingAt(this.state.selected), { width, height } = this.panes[0];
    if (!x) return;
    const left = x.x * camera.k + camera.x, top = x.y * camera.k + camera.y;
    if (left < 0 || top < 0 || left + Math.min(x.w * camera.k, width) > width || top + Math.min(x.h * camera.k, height) > height) this.centreOn(x);
  }

  centreOn(x) {
    if (camera.k < 0.45) camera.k = 0.8;
    if (x.group && x.h * camera.k > this.panes[0].height) this.centre(x.x + x.w / 2, x.y + this.panes[0].height / camera.k / 2 - 20);
    else this.centre(x.x + x.w / 2, x.y + x.h / 2);
  }

  // goTo selects a node, wherever it is, and brings it into sight.
  goTo(uid) {
    if (reveal(this.tree, this.state, uid)) this.relayout();
    let more = false;
    for (let p = this.shown.length - 1; p >= 0; p--) { // a repetition is shown by the first one
      for (let c = this.v.canon[p].get(uid); c !== undefined; c = this.v.canon[p].get(c)) more = reveal(this.tree, this.state, c) || more;
    }
    if (more) this.relayout();
    this.state.selected = uid;
    this.selected();
    const x = vertexAnywhere(this.v, uid);
    if (x) this.centreOn(x);
  }

  goToBlock(block) {
    let closed = false;
    for (let b = block.parent; b && b.parent; b = b.parent) {
      closed = closed || !this.state.open.has(b.key);
      this.state.open.add(b.key);
    }
    this.state.selected = block.key;
    if (closed) this.relayout();
    this.selected();
    const x = this.thingAt(block.key);
    if (x) this.centreOn(x);
  }

  toggle(thing) {
    if (thing.kind === 'repeat') this.unfold(thing);
    else this.toggleKey(thing.block.key);
  }

  toggleKey(key) {
    const { open } = this.state;
    if (!open.delete(key)) open.add(key);
    this.relayout(key);
    this.details.refresh();
  }

  toggleSelected() {
    const { selected } = this.state;
    const x = selected === null ? null : this.thingAt(selected);
    if (x && x.block) this.toggleKey(x.block.key);
  }

  // unfold shows every repetition of a run, or the first one again.
  unfold(times) {
    const key = times.run.key || times.run[0][0].key;
    if (!this.state.unfolded.delete(key)) this.state.unfolded.add(key);
    this.relayout();
  }

  openAll(open) {
    this.state.open.clear();
    const visit = b => {
      for (const i of b.items) {
        if (!i.block) continue;
        this.state.open.add(i.block.key);
        visit(i.block);
      }
    };
    if (open) visit(this.tree);
    this.relayout();
    this.fitView();
  }

  set(name, value) {
    this.state[name] = value;
    if (name === 'noFold') this.state.unfolded.clear();
    this.relayout(this.state.selected);
    if (name === 'toRight') this.fitView();
    this.syncBar();
  }

  nextOverlay() {
    const list = ['', ...overlayNames()];
    this.set('overlay', list[(list.indexOf(this.state.overlay) + 1) % list.length]);
  }

  nextTheme() {
    const root = document.documentElement, dark = getComputedStyle(root).getPropertyValue('--dark').trim() === '1';
    root.dataset.theme = dark ? 'light' : 'dark';
    this.retheme();
  }

  retheme() {
    readTheme();
    this.relayout(this.state.selected);
  }

  escape() {
    if (this.search.input.value) this.search.clear();
    else this.select(null);
  }

  help() {
    const d = byID('help');
    if (d.open) d.close();
    else d.showModal();
  }

  // walk goes along edges by the arrow keys.
  walk(key) {
    const x = this.state.selected === null ? this.v.vertices[0] : this.thingAt(this.state.selected);
    if (!x || x.group) return false;
    const turned = { ArrowLeft: 'ArrowUp', ArrowRight: 'ArrowDown', ArrowUp: 'ArrowLeft', ArrowDown: 'ArrowRight' };
    const way = this.v.toRight ? turned[key] : key;
    const middle = y => (this.v.toRight ? y.y + y.h / 2 : y.x + y.w / 2);
    const far = y => Math.hypot(y.x + y.w / 2 - x.x - x.w / 2, y.y + y.h / 2 - x.y - x.h / 2);
    const nearest = list => list.sort((a, b) => far(a) - far(b))[0];
    let to = x;
    if (this.state.selected === null) to = x;
    else if (way === 'ArrowDown') to = nearest(x.out.filter(e => !e.carried).map(e => e.to));
    else if (way === 'ArrowUp') to = nearest(x.in.filter(e => !e.carried).map(e => e.from));
    else {
      const peers = x.in.concat(x.out).flatMap(e => (e.to === x ? e.from.out.map(f => f.to) : e.to.in.map(f => f.from)));
      const side = peers.filter(y => y !== x && (way === 'ArrowLeft' ? middle(y) < middle(x) : middle(y) > middle(x)));
      to = nearest(side);
    }
    if (to) {
      this.select(to);
      this.keepInSight();
    }
    return true;
  }

  // hint is what a mouse that rests on something tells.
  hint(x, pane) {
    const n = x.uid >= 0 && !x.group ? this.shown[pane].byUID.get(x.uid) : null;
    if (!n) return x.block ? (titleOf(x.block) || x.kind) + ' ' + x.block.type : '';
    return ['%' + n.name + ' = ' + (n.operator ? short(n.operator) : n.opcode), n.attrs, n.type, n.scope, place(n.pos)].filter(Boolean).join('\n');
  }

  fromHash() {
    const name = decodeURIComponent(location.hash.slice(1));
    const n = name && nodes.find(x => x.name === name && this.shown.some(s => s.byUID.get(x.uid) === x));
    if (n && n.uid !== this.state.selected) this.goTo(n.uid);
  }

  // saveSVG saves what the last pane shows, all of it.
  saveSVG() {
    const ctx = new SVGContext();
    const area = null;
    paint(ctx, this.scene(this.shown.length - 1), 1, area);
    const text = ctx.text(this.v.width, this.v.height, theme.back);
    const a = make('a', { download: data.title.replace(/[^\w.-]+/g, '_') + '.svg' });
    const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
    a.setAttribute('href', address);
    a.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    return text;
  }

  bar() {
    byID('title').textContent = data.title;
    byID('fit').onclick = () => this.fitView();
    byID('more').onclick = () => this.zoom(1.3);
    byID('less').onclick = () => this.zoom(1 / 1.3);
    byID('types').onclick = () => this.set('types', !this.state.types);
    byID('folds').onclick = () => this.set('noFold', !this.state.noFold);
    byID('turn').onclick = () => this.set('toRight', !this.state.toRight);
    byID('open').onclick = () => this.openAll(true);
    byID('shut').onclick = () => this.openAll(false);
    byID('dark').onclick = () => this.nextTheme();
    byID('save').onclick = () => this.saveSVG();
    byID('ask').onclick = () => this.help();
    const overlay = byID('overlay');
    for (const name of overlayNames()) overlay.append(make('option', { value: name }, name));
    overlay.onchange = () => this.set('overlay', overlay.value);
    this.syncBar();
  }

  syncBar() {
    byID('types').setAttribute('aria-pressed', String(this.state.types));
    byID('folds').setAttribute('aria-pressed', String(!this.state.noFold));
    byID('turn').setAttribute('aria-pressed', String(this.state.toRight));
    byID('overlay').value = this.state.overlay;
  }

  // legend explains the colours that are to be seen.
  legend() {
    const list = [], used = new Set(this.v.vertices.map(x => classOf(this.v, x, Math.max(0, this.v.panes.findLastIndex((s, p) => x.mask >> p & 1)))));
    const entry = (color, line, name) => list.push(make('span', { class: 'entry' }, make('i', { style: 'background:' + color + ';border-color:' + line }), name));
    if (this.shown.length > 1) for (const k of ['added', 'removed', 'changed']) entry('var(--' + k + '-fill)', 'var(--' + k + ')', signs[k] + ' ' + k);
    for (const [key, name] of data.classes) if (used.has(key)) entry(this.shown.length > 1 ? 'var(--line-' + key + ')' : 'var(--fill-' + key + ')', 'var(--line-' + key + ')', key === 'box' ? 'closed module' : name);
    if (this.heat) for (const [h, what] of scaleOf(this.heat)) entry(mix(h), 'var(--strong)', this.heat.name + ' ' + what);
    if (this.v.edges.some(e => e.carried)) list.push(make('span', { class: 'entry' }, make('i', { class: 'dashed' }), 'to the next repetition'));
    byID('legend').replaceChildren(...list);
  }
}

const app = new App();
window.gofx = { app, camera, stages }; // for the curious, and for tests
document.documentElement.dataset.ready = 'yes';
