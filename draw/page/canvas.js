// Two things to draw on: the canvas of a pane, and text in SVG that looks the same. The
// second one has the part of a canvas that the page draws with.

class SVGContext {
  constructor() {
    Object.assign(this, { parts: [], d: '', fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '', textAlign: 'left', textBaseline: 'middle', dash: [] });
  }
  beginPath() { this.d = ''; }
  moveTo(x, y) { this.d += 'M' + n2(x) + ' ' + n2(y); }
  lineTo(x, y) { this.d += 'L' + n2(x) + ' ' + n2(y); }
  bezierCurveTo(...p) { this.d += 'C' + p.map(n2).join(' '); }
  closePath() { this.d += 'Z'; }
  // open begins a part of the picture that shows an area of what is drawn, k times as large.
  open(at, area, k) {
    const id = 'c' + this.parts.length;
    this.parts.push('<clipPath id="' + id + '"><path d="M' + n2(at) + ' 0h' + n2(area.w * k) + 'v' + n2(area.h * k) + 'h' + n2(-area.w * k) + 'Z"/></clipPath>',
      '<g clip-path="u' + 'rl(#' + id + ')"><g transform="translate(' + n2(at - area.x * k) + ' ' + n2(-area.y * k) + ') scale(' + k + ')">'); // an id of this file: nothing is loaded
  }
  close() { this.parts.push('</g></g>'); }
  rect(x, y, w, h) { this.d += 'M' + n2(x) + ' ' + n2(y) + 'h' + n2(w) + 'v' + n2(h) + 'h' + n2(-w) + 'Z'; }
  roundRect(x, y, w, h, r) {
    r = Math.min(r, w / 2, h / 2);
    const a = ' ' + n2(r) + ' ' + n2(r) + ' 0 0 1 ';
    this.d += 'M' + n2(x + r) + ' ' + n2(y) + 'h' + n2(w - 2 * r) + 'a' + a + n2(r) + ' ' + n2(r) + 'v' + n2(h - 2 * r) + 'a' + a + n2(-r) + ' ' + n2(r) +
      'h' + n2(2 * r - w) + 'a' + a + n2(-r) + ' ' + n2(-r) + 'v' + n2(2 * r - h) + 'a' + a + n2(r) + ' ' + n2(-r) + 'Z';
  }
  setLineDash(list) { this.dash = list; }
  look() { return this.globalAlpha === 1 ? '' : ' opacity="' + n2(this.globalAlpha) + '"'; }
  fill() { if (this.d) this.parts.push('<path d="' + this.d + '" fill="' + this.fillStyle + '"' + this.look() + '/>'); }
  stroke() {
    const dash = this.dash.length ? ' stroke-dasharray="' + this.dash.join(' ') + '"' : '';
    if (this.d) this.parts.push('<path d="' + this.d + '" fill="none" stroke="' + this.strokeStyle + '" stroke-width="' + n2(this.lineWidth) + '"' + dash + this.look() + '/>');
  }
  fillRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    this.fill();
  }
  fillText(text, x, y) {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[this.textAlign];
    if (!text.trim()) return;
    this.parts.push('<text x="' + n2(x) + '" y="' + n2(y) + '" text-anchor="' + anchor + '" textLength="' + n2(textWidth(text, this.font)) + '" lengthAdjust="spacingAndGlyphs" dominant-baseline="central" fill="' + this.fillStyle +
      '" style="font:' + escapeXML(this.font) + '"' + this.look() + '>' + escapeXML(text) + '</text>');
  }
  text(width, height, background) {
    const name = ['http', ['', '', 'www.w3.org', '2000', 'svg'].join('/')].join(':'); // what XML calls SVG: nothing is loaded
    return '<svg xmlns="' + name + '" width="' + n2(width) + '" height="' + n2(height) + '" viewBox="0 0 ' + n2(width) + ' ' + n2(height) + '">\n' +
      '<rect width="100%" height="100%" fill="' + background + '"/>\n' + this.parts.join('\n') + '\n</svg>\n';
  }
}

const n2 = x => String(Math.round(x * 100) / 100);
const escapeXML = s => s.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));

// Text is measured on a canvas that nobody sees.
const ruler = document.createElement('canvas').getContext('2d');
const widths = new Map();

function textWidth(text, font) {
  const key = font + '\n' + text;
  let w = widths.get(key);
  if (w === undefined) {
    ruler.font = font;
    w = ruler.measureText(text).width;
    widths.set(key, w);
  }
  return w;
}

// clipped shortens a text to a width.
function clipped(text, font, width) {
  if (textWidth(text, font) <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (textWidth(text.slice(0, mid) + '…', font) <= width) low = mid;
    else high = mid - 1;
  }
  return text.slice(0, low) + '…';
}

const sans = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const mono = '"JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
const fonts = { title: '600 12.5px ' + sans, line: '400 11px ' + sans, type: '400 10.5px ' + mono, head: '600 12px ' + sans, small: '500 10.5px ' + sans, sign: '700 11px ' + sans };

// theme has the colours of the style sheet, for what is drawn.
let theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = name => style.getPropertyValue('--' + name).trim();
  theme = { fill: {}, line: {} };
  for (const name of ['back', 'surface', 'raised', 'text', 'muted', 'border', 'strong', 'accent', 'edge', 'added', 'removed', 'changed', 'added-fill', 'removed-fill', 'changed-fill', 'hit', 'cold', 'hot', 'group'])
    theme[name] = get(name);
  for (const [key] of data.classes) {
    theme.fill[key] = get('fill-' + key);
    theme.line[key] = get('line-' + key);
  }
}
