// Saving what is shown, as SVG or PNG: all of each pane as it is open now, or the part that
// the window shows, side by side. Nothing is loaded; text in an SVG has the width that it has
// here, whatever fonts the program has that opens it.

const saveGap = 16, mostPixels = 16384, mostArea = 120e6;

// plan lists what is to be drawn: for each pane the part of the page, its scale, and where
// it goes.
function planOf(app, part) {
  const { v } = app, list = [];
  let x = 0, height = 0;
  for (const pane of app.panes) {
    const k = part ? camera.k : 1;
    const area = part ? { x: -camera.x / k, y: -camera.y / k, w: pane.width / k, h: pane.height / k } : { x: 0, y: 0, w: v.width, h: v.height };
    list.push({ index: pane.index, area, k, at: x });
    x += area.w * k + saveGap;
    height = Math.max(height, area.h * k);
  }
  return { list, width: x - saveGap, height };
}

// svgOf is the picture as SVG.
function svgOf(app, part) {
  const plan = planOf(app, part), ctx = new SVGContext();
  for (const { index, area, k, at } of plan.list) {
    ctx.open(at, area, k);
    paint(ctx, app.scene(index), k, part ? area : null);
    ctx.close();
  }
  return ctx.text(plan.width, plan.height, theme.back);
}

// canvasOf is the picture as pixels, two for one where a canvas may be so large.
function canvasOf(app, part) {
  const plan = planOf(app, part), { width, height } = plan;
  const ratio = Math.min(2, mostPixels / width, mostPixels / height, Math.sqrt(mostArea / (width * height)));
  const canvas = make('canvas'), ctx = canvas.getContext('2d', { alpha: false });
  canvas.width = Math.max(1, Math.floor(width * ratio));
  canvas.height = Math.max(1, Math.floor(height * ratio));
  ctx.fillStyle = theme.back;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  for (const { index, area, k, at } of plan.list) {
    ctx.save();
    ctx.setTransform(ratio * k, 0, 0, ratio * k, ratio * (at - area.x * k), -ratio * area.y * k);
    ctx.beginPath();
    ctx.rect(area.x, area.y, area.w, area.h);
    ctx.clip();
    paint(ctx, app.scene(index), k * ratio, part ? area : null);
    ctx.restore();
  }
  return { canvas, ratio };
}

// download hands a file to the reader.
function download(blob, ending) {
  const a = make('a', { download: data.title.replace(/[^\w.-]+/g, '_') + ending }), address = URL.createObjectURL(blob);
  a.setAttribute('href', address);
  a.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// saveSVG saves the picture, and returns its text.
function saveSVG(app, part) {
  const text = svgOf(app, part);
  download(new Blob([text], { type: 'image/svg+xml' }), '.svg');
  return text;
}

// savePNG saves the picture, and returns its file.
async function savePNG(app, part) {
  const { canvas, ratio } = canvasOf(app, part);
  const blob = await new Promise(done => canvas.toBlob(done, 'image/png'));
  if (!blob) {
    app.tell('This browser cannot make a PNG of ' + canvas.width + ' by ' + canvas.height + ' pixels; save an SVG, or the part that the window shows (Shift).');
    return null;
  }
  if (ratio < 0.5) app.tell('The PNG is drawn at ' + Math.round(100 * ratio) + ' % of its size; an SVG has every detail.');
  download(blob, '.png');
  return blob;
}
