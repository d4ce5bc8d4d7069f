// Keys: what can be done without a mouse.

const keys = [
  ['/', 'search; Enter and Shift-Enter go from hit to hit', app => byID('search').focus()],
  ['f', 'fit the graph into the window', app => app.fitView()],
  ['+', 'larger', app => app.zoom(1.3)],
  ['-', 'smaller', app => app.zoom(1 / 1.3)],
  ['e', 'open all modules', app => app.openAll(true)],
  ['c', 'close all modules', app => app.openAll(false)],
  ['r', 'fold or unfold all repetitions', app => app.set('noFold', !app.state.noFold)],
  ['t', 'types', app => app.set('types', !app.state.types)],
  ['l', 'down or to the right', app => app.set('toRight', !app.state.toRight)],
  ['o', 'next overlay: operations, bytes, measured', app => app.nextOverlay()],
  ['d', 'dark or light', app => app.nextTheme()],
  [']', 'next pass that changed something', app => app.passes.step(1)],
  ['[', 'the one before', app => app.passes.step(-1)],
  ['b', 'before all passes and after them', app => app.show([stages[0], stages[stages.length - 1]])],
  ['s', 'save the graph as SVG, as it is open now; S what the window shows', app => saveSVG(app, false)],
  ['S', '', app => saveSVG(app, true)],
  ['p', 'save it as PNG; P what the window shows', app => savePNG(app, false)],
  ['P', '', app => savePNG(app, true)],
  ['Enter', 'open or close the selected module', app => app.toggleSelected()],
  ['Escape', 'select nothing', app => app.escape()],
  ['?', 'this list', app => app.help()],
];

function listenToKeys(app) {
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (byID('help').open && e.key !== '?') return;
    if (e.key.startsWith('Arrow') && app.walk(e.key)) {
      e.preventDefault();
      return;
    }
    if (e.key === 'Enter' && e.target.tagName === 'BUTTON') return;
    const key = keys.find(k => k[0] === e.key || e.key === '=' && k[0] === '+');
    if (!key) return;
    e.preventDefault();
    key[2](app);
  });
  const list = make('dl');
  for (const [name, what] of keys) if (what) list.append(make('dt', {}, make('kbd', {}, name)), make('dd', {}, what));
  list.append(make('dt', {}, make('kbd', {}, '← ↑ ↓ →')), make('dd', {}, 'from a node to operands and users, and to its neighbours'));
  byID('keys').append(list);
}
