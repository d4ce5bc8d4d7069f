// Runs models in ONNX Runtime: requests on standard input and answers on standard
// output, a line of JSON each. The argument is the folder of onnxruntime-node. A model is
// a path, or its bytes in base64; tensors are {dtype, dims, data}, data in base64.
'use strict';

const readline = require('readline');
const ort = require(process.argv[2]);

const kinds = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};

function tensor(t) {
  const bytes = Uint8Array.from(Buffer.from(t.data, 'base64')); // begins at a multiple of eight
  return new ort.Tensor(t.dtype, new kinds[t.dtype](bytes.buffer), t.dims);
}

function answer(t) {
  const a = t.data;
  return { dtype: t.type, dims: t.dims, data: Buffer.from(a.buffer, a.byteOffset, a.byteLength).toString('base64') };
}

async function handle(q) {
  const session = await ort.InferenceSession.create(q.path || Buffer.from(q.model, 'base64'), {
    graphOptimizationLevel: q.level, intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
  });
  try {
    const runs = [];
    for (const inputs of q.runs) {
      const feeds = {};
      for (const [name, t] of Object.entries(inputs)) feeds[name] = tensor(t);
      const got = await session.run(feeds);
      runs.push(session.outputNames.map((name) => answer(got[name])));
    }
    return { runs };
  } finally {
    await session.release();
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let reply;
    try {
      reply = await handle(JSON.parse(line));
    } catch (e) {
      reply = { error: String(e.message || e) };
    }
    process.stdout.write(JSON.stringify(reply) + '\n');
  }
}

main();
