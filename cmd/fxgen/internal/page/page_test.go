package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func made(t *testing.T) string {
	page, err := HTML(Parts{Wasm: []byte("\x00asm of {{style}}"), Exec: []byte("// </script> of Go\n"), Sources: map[string]string{"models/b.go": "b", "models/a.go": "<a>"}})
	require.NoError(t, err)
	return string(page)
}

func TestThePageHasItsParts(t *testing.T) {
	page := made(t)
	for range 10 {
		require.Equal(t, page, made(t))
	}
	require.NotContains(t, page, "{{")
	for id, want := range map[string]string{"wasm": "\x00asm of {{style}}", "sources": `{"models/a.go":"\u003ca\u003e","models/b.go":"b"}`} {
		m := regexp.MustCompile(`id="` + id + `">([^<]*)</script>`).FindStringSubmatch(page)
		require.Len(t, m, 2, id)
		packed, err := base64.StdEncoding.DecodeString(m[1])
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		got, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.Equal(t, 4, strings.Count(page, "</script>"), "a text ends an element")
	require.Contains(t, page, `default-src 'none'`)
	require.NotRegexp(t, `https?://|connect-src`, page)
}

// Every element that the program asks for is in the page.
func TestTheProgramKnowsThePage(t *testing.T) {
	html := asset("page.html")
	asked := regexp.MustCompile(`(?:\$|getElementById)\('([\w-]+)'\)`).FindAllStringSubmatch(asset("app.js")+asset("views.js")+asset("engine.js"), -1)
	require.Greater(t, len(asked), 40)
	for _, m := range asked {
		require.Contains(t, html, `id="`+m[1]+`"`)
	}
}

// The worker's files are as a disk's that nobody can write to.
func TestFilesInMemory(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node, which Debian's package nodejs has")
	}
	cmd := exec.Command(node, "-e", "const answers = []; globalThis.postMessage = m => answers.push(m);\n"+Worker(nil)+`
const log = console.log;
const call = (name, ...args) => { let out; fs[name](...args, (err, value) => { out = err ? err.code : value; }); return out; };
const put = (path, text) => onmessage({ data: { path, data: new TextEncoder().encode(text) } });
put('/a/net.onnx', 'network'); put('a/b/c', 'x'); put('top', '');
log(call('readdir', '.').join(), call('readdir', '/a').join(), call('readdir', 'a/net.onnx'), call('readdir', 'nowhere'));
log(call('stat', './a//net.onnx').size, call('stat', 'a/b').isDirectory(), call('stat', 'top').size, call('lstat', 'net.onnx'));
const fd = call('open', 'a/net.onnx', 0, 0), buffer = new Uint8Array(10);
log(call('read', fd, buffer, 2, 3, null), call('read', fd, buffer, 5, 100, null), call('read', fd, buffer, 0, 3, null), String.fromCharCode(...buffer.subarray(2, 9)));
log(call('read', fd, buffer, 0, 2, 5), String.fromCharCode(...buffer.subarray(0, 2)), call('fstat', fd).size);
put('a/net.onnx', 'other');
log(call('fstat', fd).size, call('close', fd), call('read', fd, buffer, 0, 1, null), call('open', 'a/net.onnx', 1, 0), call('open', 'none', 0, 0), call('unlink', 'top'), call('mkdir', 'd', 0));
log(call('read', call('open', 'a', 0, 0), buffer, 0, 1, null));
put('github.com/gofx-dev/gofx/models/mlp.go', 'package');
log(call('stat', 'github.com/gofx-dev/gofx@v0.1.0/models/mlp.go').size, process.cwd());
`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `a,top b,net.onnx ENOTDIR ENOENT
7 true 0 ENOENT
3 4 0 network
2 rk 7
5 undefined EBADF EROFS ENOENT EROFS EROFS
EISDIR
7 /
`, string(out))
}

// A worker that ends is started again by the next request, and gets the files that the page has.
func TestWorkersAreStartedAgain(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node, which Debian's package nodejs has")
	}
	cmd := exec.Command(node, "-e", `
const sent = [];
globalThis.document = { getElementById: () => ({ textContent: 'AAEC' }) };
globalThis.Worker = class {
  constructor() { globalThis.worker = this; sent.push('worker'); }
  postMessage(m) {
    sent.push(m.wasm ? 'wasm ' + m.wasm.join() : m.path ? m.path : m.request.verb);
    if (m.wasm) queueMicrotask(() => this.onmessage({ data: { lists: {} } }));
    if (m.request?.verb === 'die') queueMicrotask(() => { this.onmessage({ data: { said: 'fatal error: ' } }); this.onmessage({ data: { said: 'out of memory\n' } }); this.onmessage({ data: { ended: true } }); });
    else if (m.number) queueMicrotask(() => this.onmessage({ data: { number: m.number, answer: m.request.verb } }));
  }
  terminate() { sent.push('terminated'); }
};
`+asset("engine.js")+`
(async () => {
  const yes = () => true;
  await engine.start();
  engine.put('a.onnx', 'A');
  const one = await engine.ask({ verb: 'draw' }, yes), two = await engine.ask({ verb: 'die' }, yes);
  const lost = engine.ask({ verb: 'unwanted' }, () => false), three = await engine.ask({ verb: 'why' }, yes);
  console.log(one.answer, two.answer.diagnostics[0].msg, (await lost).answer.ok, three.answer);
  console.log(sent.join());
})();
`)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `draw fxgen has ended: fatal error: out of memory false why
worker,wasm 0,1,2,a.onnx,draw,die,terminated,worker,wasm 0,1,2,a.onnx,why
`, string(out))
}
