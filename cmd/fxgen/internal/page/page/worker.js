// The worker of the page: fxgen, over files that are in memory. The page sends the module, then
// files and requests with numbers; answers come with the number of their request.

const encoder = new TextEncoder();

// files are the contents by path, without a slash at the beginning.
const files = new Map();

// errors are what Go's os package makes its own errors of.
const refused = code => Object.assign(new Error(code), { code });

// clean makes the path of a file of a path of Go's. A module that another one requires has its version in its paths.
const clean = path => path.split('/').filter(part => part && part !== '.').join('/').replace(/^(github\.com\/gofx-dev\/gofx)@[^/]+/, '$1');

const isFolder = path => path === '' || [...files.keys()].some(name => name.startsWith(path + '/'));

function describe(path) {
  const data = files.get(path), folder = data === undefined && isFolder(path);
  if (data === undefined && !folder) throw refused('ENOENT');
  return { dev: 0, ino: 0, mode: folder ? 0o40555 : 0o100444, nlink: 1, uid: 0, gid: 0, rdev: 0, size: folder ? 0 : data.length, blksize: 4096, blocks: 0,
    atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => folder };
}

const opened = new Map();
let descriptors = 3;
const described = fd => {
  const file = opened.get(fd);
  if (!file) throw refused('EBADF');
  return file;
};

// calls are those of Node's fs that reading needs. All others are refused: nothing is written.
const calls = {
  open(path, flags) {
    if (flags !== 0 && flags !== memory.constants.O_DIRECTORY) throw refused('EROFS');
    describe(clean(path));
    opened.set(descriptors, { path: clean(path), at: 0 });
    return descriptors++;
  },
  close(fd) { opened.delete(fd); },
  stat(path) { return describe(clean(path)); },
  lstat(path) { return describe(clean(path)); },
  fstat(fd) { return describe(described(fd).path); },
  readdir(path) {
    const folder = clean(path), inside = folder ? folder + '/' : '';
    if (!isFolder(folder)) throw refused(files.has(folder) ? 'ENOTDIR' : 'ENOENT');
    return [...new Set([...files.keys()].filter(name => name.startsWith(inside)).map(name => name.slice(inside.length).split('/')[0]))].sort();
  },
  read(fd, buffer, offset, length, position) {
    const file = described(fd), data = files.get(file.path);
    if (data === undefined) throw refused('EISDIR');
    const from = position === null ? file.at : position;
    const part = data.subarray(from, from + length);
    buffer.set(part, offset);
    if (position === null) file.at += part.length;
    return part.length;
  },
};

const memory = {
  constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 },
  writeSync(fd, data) { // what Go says when it ends by a panic
    postMessage({ said: new TextDecoder().decode(data) });
    return data.length;
  },
  write(fd, data, offset, length, position, done) { done(null, this.writeSync(fd, data.subarray(offset, offset + length))); },
};
for (const name of ['open', 'close', 'stat', 'lstat', 'fstat', 'readdir', 'read', 'chmod', 'chown', 'fchmod', 'fchown', 'fsync', 'ftruncate', 'lchown', 'link',
  'mkdir', 'readlink', 'rename', 'rmdir', 'symlink', 'truncate', 'unlink', 'utimes']) {
  memory[name] = (...args) => {
    const done = args.pop();
    try {
      if (!calls[name]) throw refused('EROFS');
      done(null, calls[name](...args));
    } catch (err) {
      if (!err.code) throw err;
      done(err);
    }
  };
}
globalThis.fs = memory;
globalThis.process = { pid: 1, ppid: 1, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [], umask: () => 0o22, cwd: () => '/', chdir() { throw refused('EROFS'); } };

const unpacked = (packed, type) => new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')), { headers: { 'Content-Type': type } });

// start unpacks the module while it is compiled.
async function start({ wasm, sources }) {
  const go = new Go();
  const [{ instance }, lines] = await Promise.all([
    WebAssembly.instantiateStreaming(unpacked(wasm, 'application/wasm'), go.importObject),
    unpacked(sources, 'application/json').json(),
  ]);
  for (const [path, text] of Object.entries(lines)) files.set(path, encoder.encode(text));
  go.run(instance).then(() => postMessage({ ended: true }));
  postMessage({ lists: JSON.parse(fxgenLists()) });
}

globalThis.onmessage = ({ data: message }) => {
  if (message.wasm) {
    start(message).catch(err => postMessage({ said: String(err), ended: true }));
  } else if (message.path) {
    files.set(clean(message.path), message.data);
  } else {
    fxgenDo(JSON.stringify(message.request), (answer, zip) => postMessage({ number: message.number, answer: JSON.parse(answer), zip }, zip ? [zip.buffer] : []));
  }
};
