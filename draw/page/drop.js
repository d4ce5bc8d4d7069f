// Drop: a reader's own overlay, from a file of JSON that is dropped on the page. It is what
// draw.ParseOverlay reads: {"conv1": 1.5, "fc": "note", "relu": {"value": 1, "text": "x"}},
// or that as nodes, next to a name and a unit.

// readOverlay returns an overlay of a stage, and throws what is wrong with the text.
function readOverlay(text, stage) {
  let file = JSON.parse(text);
  const plain = x => x !== null && typeof x === 'object' && !Array.isArray(x);
  if (!plain(file)) throw new Error('expected an object of names');
  const wrapped = plain(file.nodes) && Object.keys(file).every(k => ['name', 'unit', 'nodes'].includes(k));
  if (!wrapped) file = { nodes: file };
  const name = file.name || 'overlay', unit = file.unit || '';
  if (typeof name !== 'string' || typeof unit !== 'string') throw new Error('name and unit: expected texts');
  if (['FLOPs', 'bytes'].includes(name)) throw new Error('the name ' + name + ' is that of an overlay which every page has');
  const uids = new Map([...stage.byUID.values()].map(n => [n.name, n.uid]));
  const unknown = [], list = [], seen = new Set();
  for (const [key, v] of Object.entries(file.nodes)) {
    const node = key.replace(/^%/, ''), parts = plain(v) ? v : { [typeof v === 'string' ? 'text' : 'value']: v };
    const right = Object.entries(parts).every(([k, x]) => k === 'value' && Number.isFinite(x) || k === 'text' && typeof x === 'string') && (parts.value !== undefined || parts.text);
    if (!right) throw new Error(key + ': expected a number, a text, or both');
    if (seen.has(node)) throw new Error(node + ' is there twice, with % and without');
    seen.add(node);
    if (!uids.has(node)) unknown.push(node);
    else list.push({ n: uids.get(node), value: parts.value, text: parts.text || '' });
  }
  if (unknown.length) throw new Error('no node of ' + stage.name + ' is called ' + unknown.slice(0, 10).join(', ') + (unknown.length > 10 ? ' and ' + (unknown.length - 10) + ' more' : ''));
  return { name, ...scaled(list, unit) };
}

// scaled gives numbers their heat, from the least to the largest.
function scaled(list, unit) {
  const values = list.map(m => m.value).filter(x => x !== undefined);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity), most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const heat = x => (most > least ? (x / 2 - least / 2) / (most / 2 - least / 2) : 0);
  const print = x => (digits(x) + ' ' + unit).trim();
  const marks = list.map(m => (m.value === undefined ? { n: m.n, h: -1, t: m.text } : { n: m.n, h: heat(m.value), t: [print(m.value), m.text].filter(Boolean).join(', ') }));
  const legend = !values.length ? [] : least === most ? [least] : [least, least / 2 + most / 2, most];
  return { marks, legend: legend.map(x => ({ h: heat(x), t: print(x) })) };
}

// listenToDrops takes files that are dropped on the page.
function listenToDrops(app) {
  addEventListener('dragover', e => e.preventDefault());
  addEventListener('drop', async e => {
    e.preventDefault();
    for (const file of e.dataTransfer ? e.dataTransfer.files : []) app.bringOverlay(file.name, await file.text());
  });
}
