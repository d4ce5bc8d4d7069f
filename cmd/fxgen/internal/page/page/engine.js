// engine runs requests in the worker, one after the other. A worker that has ended, which memory
// that is used up does, is started again, and has the same files.
const engine = {
  worker: null, waiting: new Map(), number: 0, files: new Map(), started: null, said: '', last: Promise.resolve(),

  start() {
    const program = document.getElementById('worker').textContent;
    this.worker = new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })));
    this.said = '';
    this.started = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data: m }) => {
        if (m.lists) resolve(m.lists);
        else if (m.ended) { reject(new Error(this.said || 'fxgen did not start')); this.end(); }
        else if (m.said) this.said += m.said;
        if (m.number) {
          this.waiting.get(m.number)?.(m);
          this.waiting.delete(m.number);
        }
      };
      this.worker.onerror = e => { this.said += e.message; reject(new Error(e.message)); this.end(); };
    });
    this.worker.postMessage({ wasm: bytesOf('wasm'), sources: bytesOf('sources') });
    for (const [path, data] of this.files) this.worker.postMessage({ path, data });
    return this.started;
  },

  // end answers the requests that nobody answers any more.
  end() {
    this.worker.terminate();
    this.worker = null;
    const text = this.said.split('\n').find(line => /^(fatal error|panic|runtime)/.test(line)) || this.said.slice(0, 300);
    for (const done of this.waiting.values()) done(refusal('fxgen has ended: ' + (text || 'no reason is known')));
    this.waiting.clear();
  },

  put(path, data) {
    this.files.set(path, data);
    this.worker?.postMessage({ path, data });
  },

  // ask sends a request when the one before has been answered, unless nobody wants it by then.
  ask(request, wanted) {
    this.last = this.last.then(() => wanted() ? this.send(request) : refusal('the request came to nothing'));
    return this.last;
  },

  async send(request) {
    if (!this.worker) this.start();
    try {
      await this.started;
    } catch (err) {
      return refusal('fxgen does not start: ' + err.message);
    }
    const number = ++this.number;
    return new Promise(resolve => {
      this.waiting.set(number, resolve);
      this.worker.postMessage({ number, request });
    });
  },
};

// refusal is an answer without a result.
const refusal = msg => ({ answer: { ok: false, text: '', name: '', files: null, command: '', diagnostics: [{ msg }] }, zip: null });

// bytesOf reads an element that holds bytes in base64.
function bytesOf(id) {
  const text = document.getElementById(id).textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
