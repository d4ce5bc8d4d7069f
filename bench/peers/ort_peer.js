// Runs ONNX models for the benchmark: one request a line on standard input, one
// answer a line on standard output. See peers.go for the messages.
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');
const ort = require('onnxruntime-node');
// The session below session.run: without the promise and the event loop's turn,
// which cost tens of microseconds a call.
const native = require(path.join(path.dirname(require.resolve('onnxruntime-node')), 'binding.js'));

const kinds = {
  f32: ['float32', Float32Array],
  u8: ['uint8', Uint8Array],
  s8: ['int8', Int8Array],
  i32: ['int32', Int32Array],
  i64: ['int64', BigInt64Array],
};

// fill makes the values that Go and Python make too.
function fill(t) {
  const [type, Array] = kinds[t.dtype];
  if (t.file) {
    const bytes = new Uint8Array(fs.readFileSync(t.file)); // a copy begins at a multiple of eight
    return new ort.Tensor(type, new Array(bytes.buffer), t.shape);
  }
  const n = t.shape.reduce((a, b) => a * b, 1);
  const data = new Array(n);
  const float = t.dtype === 'f32';
  const big = t.dtype === 'i64';
  for (let i = 0; i < n; i++) {
    let h = (Math.imul(i + 1, 0x9e3779b1) + Math.imul(t.seed + 1, 0x85ebca77)) >>> 0;
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) >>> 0;
    h = (h ^ (h >>> 12)) >>> 0;
    const u = (h >>> 8) / 16777216;
    if (float) data[i] = t.shift + t.scale * (2 * u - 1);
    else if (big) data[i] = BigInt(t.shift + Math.floor(u * t.scale));
    else data[i] = t.shift + Math.floor(u * t.scale);
  }
  return new ort.Tensor(type, data, t.shape);
}

const cases = new Map();

function load(q) {
  const session = new native.binding.InferenceSession();
  const file = path.resolve(q.file);
  session.loadModel(file, {
    intraOpNumThreads: q.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const feeds = {};
  q.inputs.forEach((t, i) => {
    feeds[session.inputMetadata[i].name] = fill(t);
  });
  // The first run allocates the results; later ones write into them.
  const fetches = {};
  for (const m of session.outputMetadata) fetches[m.name] = null;
  const out = session.run(feeds, fetches, {});
  for (const m of session.outputMetadata) fetches[m.name] = out[m.name];
  cases.set(q.id, { session, feeds, fetches });
  return { probe: session.outputMetadata.flatMap((m) => probe(out[m.name].data)) };
}

// probe is the values at eight places and the mean magnitude of 4096.
function probe(data) {
  const n = data.length;
  const p = [];
  for (let i = 0; i < 8; i++) p.push(Number(data[Math.floor((n - 1) * i / 7)]));
  let sum = 0;
  const step = Math.max(1, Math.floor(n / 4096));
  let count = 0;
  for (let i = 0; i < n; i += step) {
    sum += Math.abs(Number(data[i]));
    count++;
  }
  p.push(sum / count);
  return p;
}

function run(q) {
  const c = cases.get(q.id);
  for (let i = 0; i < (q.warm || 0); i++) c.session.run(c.feeds, c.fetches, {});
  const start = process.hrtime.bigint();
  for (let i = 0; i < q.calls; i++) c.session.run(c.feeds, c.fetches, {});
  return { ns: Number(process.hrtime.bigint() - start) };
}

function handle(q) {
  switch (q.do) {
    case 'hello':
      native.initOrt();
      return { version: 'onnxruntime ' + JSON.parse(fs.readFileSync(
        path.join(path.dirname(require.resolve('onnxruntime-node')), '..', 'package.json'))).version };
    case 'load':
      return load(q);
    case 'run':
      return run(q);
    case 'drop':
      cases.get(q.id)?.session.dispose();
      cases.delete(q.id);
      if (global.gc) global.gc();
      return {};
  }
  throw new Error('unknown request ' + q.do);
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let answer;
  try {
    answer = handle(JSON.parse(line));
  } catch (e) {
    answer = { error: String(e.message || e) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
