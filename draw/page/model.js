// What the page knows: the stages of a pipeline, their nodes, the modules around them.
// Where the data has numbers of strings there are strings here.

const data = JSON.parse(document.getElementById('data').textContent);
const string = i => data.strings[i];

const nodes = data.nodes.map((f, index) => ({
  index, uid: f[0], args: f[1], name: string(f[2]), opcode: string(f[3]), operator: string(f[4]), target: string(f[5]),
  attrs: string(f[6]), type: string(f[7]), cls: string(f[8]), scope: string(f[9]), label: string(f[10]).split('\n'),
  operands: string(f[11]).split('\n'), weights: string(f[12]), given: string(f[13]), pos: f[14], flops: f[15], bytes: f[16],
}));

const blocks = data.blocks.map(f => ({
  kind: f[0], path: string(f[1]), name: string(f[2]), type: string(f[3]), call: f[4], items: f[5] || [], runs: f[6] || [],
}));

const stages = data.stages.map((s, index) => {
  const stage = { index, name: s.name, matches: s.matches, notes: s.notes || [], events: s.events || [], root: s.root, byUID: new Map(), order: [] };
  for (let i = 0; i < s.nodes.length; i += 2) {
    for (let k = 0; k < s.nodes[i + 1]; k++) {
      const n = nodes[s.nodes[i] + k];
      stage.byUID.set(n.uid, n);
      stage.order.push(n.uid);
    }
  }
  return stage;
});

const classNames = new Map(data.classes);

// users lists the nodes of a stage that use a value.
function users(stage, uid) {
  if (!stage.users) {
    stage.users = new Map();
    for (const u of stage.order) {
      for (const a of new Set(stage.byUID.get(u).args)) {
        if (!stage.users.has(a)) stage.users.set(a, []);
        stage.users.get(a).push(u);
      }
    }
  }
  return stage.users.get(uid) || [];
}

// compared are the fields in which a node may differ from what it was before a pass.
// Its name and its spelling, call of a module or of a function, are not among them.
const compared = ['operator', 'attrs', 'type', 'weights', 'target'];

// changes lists the fields in which two forms of a node differ.
function changes(a, b) {
  if (a === b) return [];
  const list = compared.filter(f => a[f] !== b[f] && !(f === 'target' && a.operator));
  if (a.args.length !== b.args.length || a.args.some((x, i) => x !== b.args[i])) list.push('operands');
  return list;
}

// status tells what became of a node between two stages: same, rewired when only its
// operands are others, which edges show, changed, added, removed, or '' when neither has it.
function status(before, after, uid) {
  const a = before.byUID.get(uid), b = after.byUID.get(uid);
  if (!a && !b) return '';
  if (!a) return 'added';
  if (!b) return 'removed';
  const list = changes(a, b);
  return !list.length ? 'same' : list.length === 1 && list[0] === 'operands' ? 'rewired' : 'changed';
}

// difference counts what became of the nodes between two stages.
function difference(before, after) {
  const count = { added: 0, removed: 0, changed: 0, rewired: 0, same: 0 };
  for (const uid of after.order) count[status(before, after, uid)]++;
  for (const uid of before.order) if (!after.byUID.has(uid)) count.removed++;
  return count;
}

const signs = { added: '+', removed: '−', changed: '~' };

const short = operator => operator.slice(operator.lastIndexOf('/') + 1);

// amount prints 1234567 as 1.23 M.
function amount(n) {
  if (n < 0) return 'unknown';
  const units = [' ', ' k', ' M', ' G', ' T', ' P'];
  let k = 0;
  while (n >= 999.5 && k < units.length - 1) {
    n /= 1000;
    k++;
  }
  return (k === 0 ? String(n) : n.toPrecision(3)) + units[k];
}

const plural = (n, what) => n.toLocaleString('en') + ' ' + what + (n === 1 ? '' : 's');

// place is "models/resnet.go:41", '' where nothing is known.
function place(pos) {
  if (!pos) return '';
  const [file, line] = data.positions[pos];
  return data.files[file].name + (line ? ':' + line : '');
}

// stack lists the frames of a position, innermost first.
function stack(pos) {
  const frames = [];
  for (; pos; pos = data.positions[pos][3]) {
    const [file, line, func] = data.positions[pos];
    frames.push({ place: place(pos), func: string(func), line, lines: data.files[file].lines || {} });
  }
  return frames;
}

// reason lists what the passes say they did to a node, up to and with a stage.
function reasons(uid, upTo) {
  const list = [];
  for (const s of stages.slice(0, upTo + 1)) {
    for (const e of s.events) if (e.n === uid || e.b === uid) list.push({ stage: s, kind: e.k, made: e.b === uid && e.n !== uid, why: e.w || '' });
  }
  return list;
}
