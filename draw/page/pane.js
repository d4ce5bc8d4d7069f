// Panes: the graph of one stage each. They show the same part of the same layout, so that
// moving one moves all.

// camera is what the panes show: the page is moved by (x, y) pixels and enlarged k times.
const camera = { x: 0, y: 0, k: 1 };

class Pane {
  constructor(app, index) {
    this.app = app;
    this.index = index;
    this.element = make('section', { class: 'pane' });
    this.bar = make('div', { class: 'pane-bar' });
    this.canvas = make('canvas', { tabindex: '0', role: 'application', 'aria-label': 'graph; arrow keys follow edges, Enter opens and closes modules' });
    this.element.append(this.bar, this.canvas);
    this.pointers = new Map();
    this.listen();
  }

  get stage() { return this.app.shown[this.index]; }

  listen() {
    const c = this.canvas;
    c.addEventListener('pointerdown', e => {
      c.setPointerCapture(e.pointerId);
      if (!this.pointers.size) this.travelled = 0;
      this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
      this.distance = 0;
    });
    c.addEventListener('pointermove', e => this.move(e));
    for (const type of ['pointerup', 'pointercancel']) c.addEventListener(type, e => {
      this.pointers.delete(e.pointerId);
      c.classList.remove('moving');
    });
    c.addEventListener('wheel', e => {
      e.preventDefault();
      const [x, y] = this.local(e);
      if (e.ctrlKey || e.metaKey || !e.shiftKey && Math.abs(e.deltaX) < 1) this.app.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : e.ctrlKey ? 0.008 : 0.0015)), x, y);
      else this.app.pan(-e.deltaX - (e.shiftKey && !e.deltaX ? e.deltaY : 0), e.shiftKey ? 0 : -e.deltaY);
    }, { passive: false });
    c.addEventListener('click', e => {
      if (this.travelled > 5) return;
      const [x, y] = this.local(e), hit = this.at(x, y);
      if (hit && hit.times) this.app.unfold(hit.thing);
      else this.app.select(hit && hit.thing, hit && hit.toggle, this.index);
    });
    c.addEventListener('dblclick', e => {
      const hit = this.at(...this.local(e));
      if (hit && hit.thing.block && !hit.toggle) this.app.toggle(hit.thing);
    });
  }

  move(e) {
    const last = this.pointers.get(e.pointerId);
    if (!last) {
      const hit = this.at(...this.local(e));
      this.canvas.style.cursor = hit ? 'pointer' : '';
      this.canvas.title = hit ? this.app.hint(hit.thing, this.index) : '';
      return;
    }
    this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      const box = this.canvas.getBoundingClientRect();
      if (this.distance) this.app.zoom(now / this.distance, (a[0] + b[0]) / 2 - box.left, (a[1] + b[1]) / 2 - box.top);
      this.distance = now;
      this.travelled = 99;
      return;
    }
    const dx = e.clientX - last[0], dy = e.clientY - last[1];
    this.travelled += Math.abs(dx) + Math.abs(dy);
    this.canvas.classList.add('moving');
    this.app.pan(dx, dy);
  }

  local(e) {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  // at returns what is at a place of the canvas: a vertex, or the title of a group.
  at(px, py) {
    const { v } = this.app, bit = 1 << this.index;
    const x = (px - camera.x) / camera.k, y = (py - camera.y) / camera.k;
    const inside = (b, h) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + h;
    for (const b of v.vertices) if (b.mask & bit && inside(b, b.h)) return { thing: b, toggle: b.kind === 'box' && x < b.x + 20, times: b.run && x > b.x + b.w - 48 && y < b.y + 27 };
    let best = null;
    for (const g of v.groups) if (g.parent && g.mask & bit && inside(g, 30) && x < g.x + g.titleWidth + 12) best = { thing: g, toggle: x < g.x + 26, times: g.run && x > g.x + g.pillAt };
    return best;
  }

  // fit makes the canvas as large as there is room, in pixels of the screen.
  fit() {
    const box = this.canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    const w = Math.max(1, Math.round(box.width * ratio)), h = Math.max(1, Math.round(box.height * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
  }

  draw() {
    const ctx = this.canvas.getContext('2d', { alpha: false }), ratio = devicePixelRatio || 1;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = theme.back;
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.setTransform(ratio * camera.k, 0, 0, ratio * camera.k, ratio * camera.x, ratio * camera.y);
    const area = { x: -camera.x / camera.k - 12, y: -camera.y / camera.k - 12, w: this.width / camera.k + 24, h: this.height / camera.k + 24 };
    paint(ctx, this.app.scene(this.index), camera.k, area);
  }

  // drawBar says which stage the pane shows, and lets the reader choose another.
  drawBar() {
    const { app } = this;
    this.bar.replaceChildren();
    const choice = make('select', { 'aria-label': 'stage of pane ' + (this.index + 1) });
    stages.forEach((s, i) => {
      const o = make('option', { value: String(i) }, i === 0 ? s.name : i + '. ' + s.name);
      o.selected = s === this.stage;
      choice.append(o);
    });
    choice.onchange = () => app.show(app.shown.map((s, i) => (i === this.index ? stages[+choice.value] : s)));
    this.bar.append(choice, make('span', { class: 'muted' }, plural(this.stage.order.length, 'node')));
    if (this.index > 0) {
      const d = difference(app.shown[this.index - 1], this.stage);
      for (const k of ['added', 'removed', 'changed']) if (d[k]) this.bar.append(make('span', { class: 'badge ' + k, title: k }, signs[k] + d[k]));
    }
    if (app.shown.length > 1) {
      const close = make('button', { class: 'quiet', title: 'close this pane', 'aria-label': 'close this pane' }, '×');
      close.onclick = () => app.show(app.shown.filter((_, i) => i !== this.index));
      this.bar.append(close);
    }
  }
}

// make makes an element.
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, value] of Object.entries(attributes || {})) e.setAttribute(k, value);
  e.append(...children);
  return e;
}

const byID = id => document.getElementById(id);
