// Runs the worker of a page without a browser: node worker.cjs FOLDER. The folder has the page's
// worker.js, wasm.gz and sources.gz, and requests.json: a list of {put: file} and {request}.
// Answers go to answers.json in the order of the requests, zip files to N.zip.
const fs = require('fs'), path = require('path'), vm = require('vm');
const folder = process.argv[2], exit = process.exit.bind(process);
const read = name => new Uint8Array(fs.readFileSync(path.join(folder, name)));
const steps = JSON.parse(fs.readFileSync(path.join(folder, 'requests.json'), 'utf8'));
const answers = [];

globalThis.postMessage = m => {
  if (m.ended) {
    console.error(m.said);
    exit(1);
  } else if (m.said) {
    console.error(m.said);
  } else {
    if (m.answer) answers.push(m.answer);
    if (m.zip) fs.writeFileSync(path.join(folder, answers.length - 1 + '.zip'), m.zip);
    next();
  }
};

function next() {
  const step = steps.shift();
  if (!step) {
    fs.writeFileSync(path.join(folder, 'answers.json'), JSON.stringify(answers));
    exit(0);
  }
  if (step.put) {
    onmessage({ data: { path: step.put, data: read(step.put) } });
    next();
  } else {
    onmessage({ data: { number: 1, request: step.request } });
  }
}

vm.runInThisContext(fs.readFileSync(path.join(folder, 'worker.js'), 'utf8'));
onmessage({ data: { wasm: read('wasm.gz'), sources: read('sources.gz') } });
