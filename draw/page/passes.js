// The strip of passes: what each did, and a way to look at any two stages.

class Passes {
  constructor(app) {
    this.app = app;
    this.box = byID('passes');
    this.box.hidden = stages.length < 2;
    if (this.box.hidden) return;
    this.chips = stages.map((s, i) => {
      const chip = make('button', { class: 'chip', 'data-stage': String(i) }, make('span', { class: 'name' }, s.name));
      if (i > 0) {
        const d = difference(stages[i - 1], s);
        for (const k of ['added', 'removed', 'changed']) if (d[k]) chip.append(make('span', { class: 'badge ' + k }, signs[k] + d[k]));
        chip.classList.toggle('idle', d.added + d.removed + d.changed + d.rewired === 0);
        chip.title = s.name + ': ' + plural(s.matches, 'match').replace('matchs', 'matches') + ', ' + d.added + ' added, ' + d.removed + ' removed, ' + d.changed + ' changed, ' + d.rewired + ' rewired' +
          (s.notes.length ? '\n' + s.notes.join('\n') : '') + '\nClick: before and after this pass. Shift-click: one more pane.';
      } else {
        chip.title = 'The graph before any pass.';
      }
      chip.onclick = e => this.choose(i, e.shiftKey);
      return chip;
    });
    const all = make('button', { class: 'chip whole', title: 'Before the first pass and after the last one.' }, 'before | after');
    all.onclick = () => app.show([stages[0], stages[stages.length - 1]]);
    this.box.append(all, ...this.chips);
  }

  choose(i, more) {
    const { app } = this;
    if (more) app.show([...new Set([...app.shown, stages[i]])].sort((a, b) => a.index - b.index));
    else app.show(i === 0 ? [stages[0]] : [stages[i - 1], stages[i]]);
  }

  // step goes to the next pass that changed something, or the one before.
  step(by) {
    if (!this.chips) return;
    const shown = this.app.shown, single = shown.length === 2 && shown[1].index - shown[0].index === 1;
    let i = single ? shown[1].index : by > 0 ? 0 : stages.length;
    do i += by; while (i > 0 && i < stages.length && this.chips[i].classList.contains('idle'));
    if (i > 0 && i < stages.length) this.choose(i, false);
  }

  refresh() {
    if (this.chips) this.chips.forEach((c, i) => c.setAttribute('aria-pressed', String(this.app.shown.includes(stages[i]))));
  }
}
