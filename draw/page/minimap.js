// The minimap: all of the graph, and what of it the panes show.

class Minimap {
  constructor(app) {
    this.app = app;
    this.canvas = byID('minimap');
    this.picture = document.createElement('canvas');
    const go = e => {
      if (!(e.buttons & 1)) return;
      const box = this.canvas.getBoundingClientRect();
      app.centre((e.clientX - box.left - this.dx) / this.k, (e.clientY - box.top - this.dy) / this.k);
    };
    this.canvas.addEventListener('pointerdown', e => {
      this.canvas.setPointerCapture(e.pointerId);
      go(e);
    });
    this.canvas.addEventListener('pointermove', go);
  }

  // refresh draws the picture anew, after a change of what is to be seen.
  refresh() {
    const { v } = this.app, ratio = devicePixelRatio || 1;
    const tall = v.height > 2 * v.width;
    const w = tall ? 96 : 190, h = tall ? 260 : 140;
    this.canvas.style.width = w + 'px';
    this.canvas.style.height = h + 'px';
    for (const c of [this.canvas, this.picture]) {
      c.width = w * ratio;
      c.height = h * ratio;
    }
    this.k = Math.min((w - 8) / v.width, (h - 8) / v.height);
    this.dx = (w - v.width * this.k) / 2;
    this.dy = (h - v.height * this.k) / 2;
    const ctx = this.picture.getContext('2d');
    ctx.setTransform(ratio * this.k, 0, 0, ratio * this.k, ratio * this.dx, ratio * this.dy);
    const last = this.app.shown.length - 1, scene = this.app.scene(last);
    for (const g of v.groups) {
      if (!g.parent) continue;
      ctx.fillStyle = theme.border;
      ctx.globalAlpha = 0.35;
      ctx.fillRect(g.x, g.y, g.w, g.h);
    }
    ctx.globalAlpha = 1;
    const least = 1.5 / this.k;
    for (const x of v.vertices) {
      const st = last > 0 && !(x.mask >> last & 1) ? 'removed' : vertexStatus(scene, x);
      ctx.fillStyle = st === 'same' ? theme.line[classOf(v, x, x.mask >> last & 1 ? last : 0)] : theme[st];
      ctx.fillRect(x.x, x.y, Math.max(x.w, least), Math.max(x.h, least));
    }
    this.draw();
  }

  draw() {
    const ctx = this.canvas.getContext('2d'), ratio = devicePixelRatio || 1, pane = this.app.panes[0];
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.drawImage(this.picture, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = 1.5;
    const x = -camera.x / camera.k * this.k + this.dx, y = -camera.y / camera.k * this.k + this.dy;
    const w = pane.width / camera.k * this.k, h = pane.height / camera.k * this.k;
    const width = this.canvas.width / ratio, height = this.canvas.height / ratio;
    const left = Math.max(1, x), top = Math.max(1, y);
    ctx.strokeRect(left, top, Math.max(3, Math.min(width - 1, x + w) - left), Math.max(3, Math.min(height - 1, y + h) - top));
  }
}
