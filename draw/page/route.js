// Curves: the way of an edge, from segment to segment.

// trace draws segments of edges as one path. Without detail they are straight lines.
function trace(ctx, list, toRight, detail) {
  ctx.beginPath();
  for (const s of list) {
    const { x1, y1, x2, y2, y3 } = s;
    if (s.back || s.far) {
      around(ctx, s, toRight);
      continue;
    }
    const m = (y1 + y2) / 2;
    if (toRight) {
      ctx.moveTo(y1, x1);
      if (detail && x1 !== x2) ctx.bezierCurveTo(m, x1, m, x2, y2, x2);
      else ctx.lineTo(y2, x2);
      if (y3 > y2) ctx.lineTo(y3, x2);
    } else {
      ctx.moveTo(x1, y1);
      if (detail && x1 !== x2) ctx.bezierCurveTo(x1, m, x2, m, x2, y2);
      else ctx.lineTo(x2, y2);
      if (y3 > y2) ctx.lineTo(x2, y3);
    }
  }
  ctx.stroke();
}

// around is the way of an edge that goes up, or so far that it has no bends.
function around(ctx, s, toRight) {
  const d = s.far ? 60 : 30;
  if (toRight) {
    ctx.moveTo(s.y1, s.x1);
    ctx.bezierCurveTo(s.y1 + d, s.x1, s.y2 - d, s.x2, s.y2, s.x2);
  } else {
    ctx.moveTo(s.x1, s.y1);
    ctx.bezierCurveTo(s.x1, s.y1 + d, s.x2, s.y2 - d, s.x2, s.y2);
  }
}

// arrow draws the head of an edge at (x, y).
function arrow(ctx, x, y, toRight) {
  ctx.moveTo(x, y);
  if (toRight) {
    ctx.lineTo(x - 6.5, y - 3.2);
    ctx.lineTo(x - 6.5, y + 3.2);
  } else {
    ctx.lineTo(x - 3.2, y - 6.5);
    ctx.lineTo(x + 3.2, y - 6.5);
  }
  ctx.closePath();
}

// loop draws an edge to the next repetition: out at the side, back to the top.
function loop(ctx, e, toRight) {
  const { from: a, to: b, around: g } = e;
  const r = 8, lane = 12 + 8 * e.lane;
  ctx.beginPath();
  if (toRight) {
    const y = g.y + g.h - lane, ax = a.x + a.w / 2 + 6, bx = b.x + b.w / 2 - 6;
    ctx.moveTo(ax, a.y + a.h);
    corner(ctx, [[ax, a.y + a.h], [ax, y], [bx, y], [bx, b.y + b.h]], r);
  } else {
    const x = g.x + g.w - lane, ay = a.y + a.h / 2 + 6, by = b.y + b.h / 2 - 6;
    corner(ctx, [[a.x + a.w, ay], [x, ay], [x, by], [b.x + b.w, by]], r);
  }
  ctx.stroke();
  ctx.beginPath();
  const x = toRight ? b.x + b.w / 2 - 6 : b.x + b.w, y = toRight ? b.y + b.h : b.y + b.h / 2 - 6;
  ctx.moveTo(x, y);
  if (toRight) {
    ctx.lineTo(x - 3.2, y + 6.5);
    ctx.lineTo(x + 3.2, y + 6.5);
  } else {
    ctx.lineTo(x + 6.5, y - 3.2);
    ctx.lineTo(x + 6.5, y + 3.2);
  }
  ctx.closePath();
  ctx.fill();
}

// corner draws a line with round corners.
function corner(ctx, points, r) {
  ctx.moveTo(...points[0]);
  for (let i = 1; i < points.length - 1; i++) {
    const [p, q, n] = [points[i - 1], points[i], points[i + 1]];
    const toward = (a, b) => {
      const d = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, k = Math.min(r, d / 2) / d;
      return [a[0] + (b[0] - a[0]) * k, a[1] + (b[1] - a[1]) * k];
    };
    const before = toward(q, p), after = toward(q, n);
    ctx.lineTo(...before);
    ctx.bezierCurveTo(...q, ...q, ...after);
  }
  ctx.lineTo(...points[points.length - 1]);
}

// segmentsOf lists the segments of an edge, from its end back to where its value is made.
function segmentsOf(v, e) {
  if (!v.ends) {
    v.ends = new Map();
    for (const s of v.segments) {
      const thing = s.b.thing || s.b;
      if (!v.ends.has(thing)) v.ends.set(thing, []);
      v.ends.get(thing).push(s);
    }
  }
  const list = [];
  const back = thing => {
    const s = (v.ends.get(thing) || []).find(x => x.source === e.from.id);
    if (!s || list.includes(s)) return;
    list.push(s);
    if (s.a.kind === 'enter') back(s.group); // outside, it ends at the group
    else if (s.a.many) back(s.a.thing.leave.get(s.source));
    else if (s.a.kind === 'bend') back(s.a);
  };
  back(e.to);
  return list;
}
