// state is what the page shows. Answers that come when the state has changed since are dropped: turn tells.
const state = { source: 'mlp', again: false, passes: [], chosen: -1, why: null, captured: '', drawing: null, code: null, detail: 'difference', result: 'drawing', moved: 0, turn: 0 };
const edited = 'graph.fx';
let lists, causes = {};

const enabled = () => state.passes.filter(p => p.on).map(p => p.name);
const sizes = () => $('shapes').value.split(/[;\s]+/).filter(Boolean);

function status(text, busy) {
  $('status').textContent = text;
  $('status').classList.toggle('busy', !!busy);
}

async function ask(verb, more) {
  const again = state.again, turn = state.turn;
  state.again = false;
  const m = await engine.ask({ verb, source: state.source, again, passes: enabled(), shapes: sizes(), ...more }, () => again || turn === state.turn);
  return { ...m.answer, zip: m.zip };
}

// refresh asks for all that is shown: the drawing first.
async function refresh(changed) {
  const turn = ++state.turn, began = performance.now();
  const old = () => turn !== state.turn;
  status('working on ' + state.source, true);
  const drawn = await ask('draw');
  if (old()) return;
  diagnosed(drawn.diagnostics, causes, goTo);
  state.code = null;
  if (!drawn.ok) return failed();
  show(drawn);
  if (changed) {
    const captured = await ask('print', { passes: [] });
    if (old()) return;
    setText(captured.text);
  }
  const why = await ask('why');
  if (old()) return;
  if (!why.ok) {
    diagnosed(why.diagnostics, causes, goTo);
    return failed();
  }
  state.why = JSON.parse(why.text);
  listPasses();
  await detail();
  if (old()) return;
  if (state.result === 'code') await generate();
  if (old()) return;
  status(state.source + ': ' + state.why.passes.reduce((n, p) => n + p.matches, 0) + ' rewrites by ' + enabled().length + ' passes, ' + ((performance.now() - began) / 1000).toFixed(1) + ' s');
  document.documentElement.dataset.done = turn;
}

function failed() {
  state.why = null;
  listPasses();
  status('there are mistakes, see below the text');
  document.documentElement.dataset.done = state.turn;
}

// show puts a drawing into its frame.
function show(answer) {
  state.drawing = answer;
  const frame = $('drawing'), before = frame.dataset.address;
  frame.dataset.address = URL.createObjectURL(new Blob([answer.text], { type: 'text/html' }));
  frame.src = frame.dataset.address;
  if (before) URL.revokeObjectURL(before);
  frame.addEventListener('load', () => { document.documentElement.dataset.drawn ||= performance.now(); }, { once: true });
  command(answer.command);
  $('save').disabled = false;
}

function command(text) {
  state[state.result === 'code' ? 'codeCommand' : 'drawCommand'] = text;
  $('command').querySelector('code').textContent = text;
}

// setText shows the captured graph in the editor.
function setText(text) {
  state.captured = text;
  $('edit').value = text;
  $('apply').disabled = true;
}

function goTo(line, column) {
  const box = $('edit'), lines = box.value.split('\n');
  const at = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  box.focus();
  box.setSelectionRange(at + column - 1, at + (lines[line - 1] || '').length);
  box.scrollTop = (line - 3) * box.scrollHeight / Math.max(lines.length, 1);
}

// listPasses shows the pipeline with what each pass did.
function listPasses() {
  let ran = -1;
  const focused = [...$('passes').children].findIndex(item => item.contains(document.activeElement));
  const part = focused < 0 ? -1 : [...$('passes').children[focused].children].indexOf(document.activeElement);
  $('passes').replaceChildren(...state.passes.map((p, i) => {
    if (p.on) ran++;
    const report = p.on && state.why && state.why.passes[ran];
    const box = make('input', { type: 'checkbox', checked: p.on, onchange: () => { p.on = box.checked; refresh(); } });
    box.setAttribute('aria-label', 'run ' + p.name);
    const count = make('span', { className: 'count', title: 'rewrites, and candidates that were left as they are' });
    if (report) count.append(make('b', { textContent: report.matches || '' }), (report.matches && report.left ? ' · ' : '') + (report.left ? report.left + ' left' : ''));
    const step = (text, by, what) => {
      const b = make('button', { type: 'button', textContent: text, disabled: i + by < 0 || i + by >= state.passes.length, onclick: () => move(i, by) });
      b.setAttribute('aria-label', 'move ' + p.name + ' ' + what);
      return b;
    };
    const name = make('button', { type: 'button', className: 'name', textContent: p.name, title: docOf(p.name), onclick: () => choose(i) });
    const item = make('li', { className: p.on ? '' : 'off' }, box, name, count, step('↑', -1, 'up'), step('↓', 1, 'down'));
    item.setAttribute('aria-current', i === state.chosen);
    return item;
  }));
  if (focused >= 0) $('passes').children[focused + state.moved]?.children[part]?.focus();
  state.moved = 0;
}

const docOf = name => (lists.passes.find(p => p.name === name) || { doc: '' }).doc;

function choose(i) {
  state.chosen = i;
  listPasses();
  detail();
}

function move(i, by) {
  const [p] = state.passes.splice(i, 1);
  state.passes.splice(i + by, 0, p);
  if (state.chosen === i) state.chosen = i + by;
  else if (state.chosen === i + by) state.chosen = i;
  state.moved = by;
  state.why = null;
  listPasses();
  refresh();
}

// detail shows the chosen pass in the chosen way.
async function detail() {
  const box = $('detail'), p = state.passes[state.chosen];
  const report = p && p.on && state.why && state.why.passes[state.passes.slice(0, state.chosen).filter(q => q.on).length];
  box.classList.toggle('prose', !report || state.detail === 'why');
  if (!report) {
    box.replaceChildren(make('p', { className: 'muted', textContent: p && !p.on ? p.name + ' does not run. ' + docOf(p.name) : 'Choose a pass to see what it changed, and why it left other nodes.' }));
  } else if (state.detail === 'why') {
    box.replaceChildren(make('p', { className: 'muted', textContent: docOf(p.name) }), ...reasons(report));
  } else if (state.detail === 'difference') {
    box.replaceChildren(report.diff ? coloured(report.diff) : 'The pass changed nothing.');
  } else {
    const turn = state.turn, answer = await ask('print', { after: p.name });
    if (turn === state.turn && state.detail === 'text') box.replaceChildren(answer.text);
  }
}

// generate shows the package that the pipeline gives.
async function generate() {
  const turn = state.turn, style = $('style').value;
  status('writing Go', true);
  const answer = await ask('gen', { style });
  if (turn !== state.turn || style !== $('style').value) return;
  state.code = answer;
  diagnosed(answer.diagnostics, causes, goTo);
  status(answer.ok ? 'package ' + answer.name + ': ' + answer.files.length + ' files' : 'no code, see below the text');
  command(answer.command);
  $('save').disabled = !answer.ok;
  $('files').replaceChildren(...(answer.files || []).map((f, i) => {
    const tab = make('button', { type: 'button', textContent: f.name + (f.text ? '' : ' (' + f.size.toLocaleString('en') + ' bytes)') });
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', i === 0);
    tab.dataset.view = i;
    return tab;
  }));
  const list = i => { $('listing').textContent = answer.files[i].text || 'Weights, as safetensors. The zip file has them.'; };
  tabs($('files'), i => list(+i));
  if (answer.ok) list(0);
  else $('listing').textContent = '';
}

// result chooses between the drawing and the code.
function result(view) {
  state.result = view;
  $('drawing').hidden = view !== 'drawing';
  $('code').hidden = $('style').hidden = view !== 'code';
  $('save').textContent = view === 'code' ? 'Save the package' : 'Save the page';
  if (view === 'drawing') {
    command(state.drawCommand || '');
    $('save').disabled = !state.drawing;
  } else if (state.code) {
    command(state.codeCommand);
    $('save').disabled = !state.code.ok;
  } else {
    $('save').disabled = true;
    generate();
  }
}

// named shows the source in the list of networks: the entry without a value stands for files.
function named() {
  const known = lists.models.some(m => m.name === state.source);
  $('models').options[0].textContent = known ? '– a file –' : state.source;
  $('models').value = known ? state.source : '';
}

function open(source) {
  if (source !== state.source) $('shapes').value = ''; // which are of other inputs
  state.source = source;
  state.again = true;
  named();
  return refresh(true);
}

// take opens the first source among files, once all have been read: a model may have others next to it.
async function take(files) {
  const list = [...files], source = list.find(f => lists.endings.some(e => f.name.endsWith(e)));
  for (const f of list) engine.put(f.name, new Uint8Array(await f.arrayBuffer()));
  if (!source) {
    diagnosed([{ msg: list.map(f => f.name).join(', ') + ': no network', hint: 'drop a file that ends in ' + lists.endings.join(', ') }], causes, goTo);
    return;
  }
  await open(source.name);
}

function apply() {
  engine.put(edited, new TextEncoder().encode($('edit').value));
  $('apply').disabled = true;
  state.source = edited;
  state.again = true;
  named();
  refresh(false);
}

function pipeline(names) {
  state.passes = names.map(name => ({ name, on: true }));
  state.chosen = -1;
}

function listen() {
  $('models').onchange = () => open($('models').value);
  $('browse').onclick = () => $('choose').click();
  $('choose').onchange = () => take($('choose').files);
  document.ondragover = e => { e.preventDefault(); $('drop').classList.add('over'); };
  document.ondragleave = e => { if (!e.relatedTarget) $('drop').classList.remove('over'); };
  document.ondrop = e => { e.preventDefault(); $('drop').classList.remove('over'); take(e.dataTransfer.files); };
  $('shapes').onchange = () => { state.again = true; refresh(true); };
  $('edit').oninput = () => { $('apply').disabled = $('edit').value === state.captured; };
  $('edit').onkeydown = e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); apply(); } };
  $('apply').onclick = apply;
  $('keep').onclick = () => save(edited, $('edit').value, 'text/plain');
  $('standard').onclick = () => { pipeline(lists.default); refresh(); };
  $('none').onclick = () => { pipeline([]); refresh(); };
  $('add').onchange = () => { state.passes.push({ name: $('add').value, on: true }); $('add').value = ''; refresh(); };
  $('style').onchange = () => { state.code = null; if (state.result === 'code') generate(); };
  $('copy').onclick = () => navigator.clipboard?.writeText($('command').querySelector('code').textContent);
  $('save').onclick = () => {
    if (state.result === 'code') save(state.code.name + '.zip', state.code.zip, 'application/zip');
    else save(state.drawing.name + '.html', state.drawing.text, 'text/html');
  };
  tabs($('about'), view => { state.detail = view; detail(); });
  tabs($('results'), result);
}

async function begin() {
  try {
    lists = await engine.start();
  } catch (err) {
    status('fxgen does not start here: ' + err.message);
    return;
  }
  causes = lists.causes;
  $('version').textContent = 'gofx ' + lists.version;
  $('models').append(make('option', { value: '', textContent: '– a file –', disabled: true }), ...lists.models.map(m => make('option', { value: m.name, textContent: m.name, title: m.doc })));
  $('add').append(make('option', { value: '', textContent: 'Add a pass …' }), ...lists.passes.map(p => make('option', { value: p.name, textContent: p.name, title: p.doc })));
  pipeline(lists.default);
  listen();
  await open(state.source);
}

document.addEventListener('DOMContentLoaded', begin);
