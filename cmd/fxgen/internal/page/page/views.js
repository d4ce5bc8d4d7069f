const $ = id => document.getElementById(id);

function make(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

// coloured shows a difference in the form of diff -u.
function coloured(text) {
  const out = document.createDocumentFragment();
  for (const line of text.split('\n')) {
    const kind = /^(---|\+\+\+|@@)/.test(line) ? 'hunk' : line[0] === '+' ? 'add' : line[0] === '-' ? 'del' : '';
    out.append(make('span', { className: kind, textContent: line }), '\n');
  }
  return out;
}

// reasons tells what a pass did and did not do, as `fxgen why` has it.
function reasons(pass) {
  const list = [];
  const say = (head, rest, at) => list.push(make('p', {}, make('b', { textContent: head }), ' ' + rest, ...(at ? [make('span', { className: 'muted', textContent: ' ' + at })] : [])));
  for (const text of pass.notes || []) say('note', text);
  for (const e of pass.events) {
    if (e.kind === 'refused') say('%' + e.node + ' left as it is' + (e.at ? ' at %' + e.at : '') + ':', e.why || '', e.rule && 'rule ' + e.rule);
    else say('%' + e.node + ' ' + e.kind + (e.by ? ' by %' + e.by : '') + (e.why ? ':' : ''), e.why || '', e.rule && 'rule ' + e.rule);
  }
  if (!list.length) list.push(make('p', { className: 'muted', textContent: 'The pass found nothing to do, and no rule of it began to match.' }));
  return list;
}

// tabs makes buttons with the role of tabs choose a view; arrow keys go from one to the next.
function tabs(box, chosen) {
  const list = () => [...box.querySelectorAll('[role=tab]')];
  const choose = tab => {
    for (const t of list()) {
      t.setAttribute('aria-selected', t === tab);
      t.tabIndex = t === tab ? 0 : -1;
    }
    chosen(tab.dataset.view);
  };
  box.onclick = e => {
    const tab = e.target.closest('[role=tab]');
    if (tab) choose(tab);
  };
  box.onkeydown = e => {
    const all = list(), at = all.indexOf(e.target), step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (at < 0 || !step) return;
    const next = all[(at + step + all.length) % all.length];
    choose(next);
    next.focus();
  };
  for (const t of list()) t.tabIndex = t.getAttribute('aria-selected') === 'true' ? 0 : -1;
}

// diagnosed lists diagnostics; a place in the edited text is a button that goes there.
function diagnosed(list, causes, go) {
  $('diagnostics').replaceChildren(...list.map(d => {
    const at = d.pos && /^(.*\.fx):(\d+)(?::(\d+))?$/.exec(d.pos);
    const place = !d.pos ? [] : at ? [make('button', { type: 'button', textContent: d.pos, onclick: () => go(+at[2], +at[3] || 1) }), ': '] : [d.pos + ': '];
    const item = make('li', { className: d.note ? 'note' : '' }, ...place, d.msg, ...(d.code ? [' [' + d.code + ']'] : []));
    if (d.hint) item.append(make('div', { className: 'muted', textContent: 'hint: ' + d.hint }));
    if (causes[d.code]) item.append(make('details', { className: 'muted' }, make('summary', { textContent: 'cause' }), causes[d.code]));
    return item;
  }));
}

// save hands a file to the reader.
function save(name, data, type) {
  const address = URL.createObjectURL(new Blob([data], { type }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
