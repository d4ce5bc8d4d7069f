// Tensors: what is known of the values of a weight.

const tensors = new Map();
for (const f of data.tensors || []) {
  const t = { stage: f[1], elements: f[2], looked: f[3], least: f[4], most: f[5], mean: f[6], spread: f[7], zeros: f[8], odd: f[9], first: f[10], counts: f[11] };
  const path = string(f[0]);
  if (!tensors.has(path)) tensors.set(path, []);
  tensors.get(path).push(t);
}

// tensorAt is what a tensor is at a stage.
const tensorAt = (path, stage) => (tensors.get(path) || []).findLast(t => t.stage <= stage.index);

// weightsOf lists the tensors that a node reads: path and type.
function weightsOf(n) {
  if (n.opcode === 'get_attr') return [[n.target, n.type]];
  return n.weights ? n.weights.split(', ').map(s => [s.split(' ')[0], s.split(' ').slice(1).join(' ')]) : [];
}

// digits prints a number of four digits, as draw's digits does.
function digits(x) {
  const r = +x.toPrecision(4);
  return (r && Math.abs(r) < 1e-4 ? r.toExponential() : String(r)).replace(/e([+-])(\d)$/, 'e$10$2');
}

// histogram draws the counts as bars, which a screen reader hears as the range.
function histogram(t) {
  const most = Math.max(...t.counts, 1);
  const bars = t.counts.map(c => {
    const bar = make('i', { title: c.toLocaleString('en') });
    bar.style.height = (c ? Math.max(2, 100 * c / most) : 0) + '%';
    return bar;
  });
  return make('div', { class: 'histogram', role: 'img', 'aria-label': 'histogram from ' + digits(t.least) + ' to ' + digits(t.most) }, ...bars);
}

// tensorBox tells of one tensor.
function tensorBox(path, type, stage, open) {
  const box = make('details', { class: 'tensor' }), t = tensorAt(path, stage);
  box.append(make('summary', { class: 'mono' }, path, make('span', { class: 'muted' }, ' ' + type)));
  if (!t) {
    box.append(make('p', { class: 'muted' }, 'no values are known'));
    return box;
  }
  box.open = open;
  box.append(histogram(t), make('div', { class: 'range mono muted' }, make('span', {}, digits(t.least)), make('span', {}, digits(t.most))));
  const facts = ['mean ' + digits(t.mean), 'std ' + digits(t.spread)];
  if (t.zeros) facts.push(t.zeros.toLocaleString('en') + ' zero');
  if (t.odd) facts.push(t.odd.toLocaleString('en') + ' not finite');
  facts.push(t.looked < t.elements ? 'of ' + t.looked.toLocaleString('en') + ' of ' + plural(t.elements, 'element') : 'of ' + plural(t.elements, 'element'));
  box.append(make('p', {}, facts.join(', ')), make('p', { class: 'mono muted' }, t.first.join(', ') + (t.elements > t.first.length ? ', …' : '')));
  return box;
}
