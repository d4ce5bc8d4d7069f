// Search: words that are all in what is known of a node. op:conv type:f16 in:layer1
// is:changed look at one thing only.

const haystacks = new Map();

function haystack(n) {
  let s = haystacks.get(n);
  if (!s) {
    s = [n.name, n.opcode, n.operator, n.target, n.attrs, n.type, n.scope, n.weights, place(n.pos)].join('\n').toLowerCase();
    haystacks.set(n, s);
  }
  return s;
}

const fields = { op: n => n.operator || n.opcode, type: n => n.type, in: n => n.scope, name: n => n.name, at: n => place(n.pos) };

// find lists the nodes of the stages that a query fits, in order.
function find(shown, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const last = shown.length - 1;
  const fits = (stage, n, word) => {
    const [, field, value] = /^(\w+):(.*)$/.exec(word) || [];
    if (field === 'is') return last > 0 && status(shown[last - 1], shown[last], n.uid).startsWith(value);
    if (fields[field]) return fields[field](n).toLowerCase().includes(value);
    return haystack(n).includes(word);
  };
  const out = new Set();
  for (const stage of shown) {
    for (const uid of stage.order) if (!out.has(uid) && words.every(w => fits(stage, stage.byUID.get(uid), w))) out.add(uid);
  }
  return [...out];
}

class Search {
  constructor(app) {
    this.app = app;
    this.input = byID('search');
    this.at = -1;
    this.input.addEventListener('input', () => this.refresh());
    this.input.addEventListener('keydown', e => {
      if (e.key === 'Enter') this.next(e.shiftKey ? -1 : 1);
      else if (e.key === 'Escape') this.clear();
      else return;
      e.preventDefault();
    });
  }

  refresh() {
    const { app } = this;
    app.found = find(app.shown, this.input.value);
    this.at = -1;
    byID('found').textContent = app.found ? app.found.length + ' found' : '';
    this.mark();
    app.outline.refresh();
    app.draw();
  }

  // mark finds what stands for the nodes that were found.
  mark() {
    const { app } = this;
    app.state.hits = app.found ? new Set(app.found.map(uid => vertexAnywhere(app.v, uid)).filter(Boolean)) : null;
  }

  next(by) {
    const { app } = this, { found } = app;
    if (!found || !found.length) return;
    this.at = (this.at + by + found.length + (this.at < 0 && by < 0 ? 1 : 0)) % found.length;
    byID('found').textContent = this.at + 1 + ' of ' + found.length;
    app.goTo(found[this.at]);
  }

  clear() {
    this.input.value = '';
    this.refresh();
    this.input.blur();
  }
}
