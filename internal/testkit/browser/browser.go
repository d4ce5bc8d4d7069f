package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Page is a tab with a page.
type Page struct {
	t    testing.TB
	base string // address of the session
}

// element is the key of an element's name in the protocol.
const element = "element-6066-11e4-a52e-4f735466cecf"

// patience bounds the waiting of a test: it decides only when to give up.
const patience = 60 * time.Second

// Open starts Chromium with a window of a size, and opens a file in it. Both programs end
// with the test, which is skipped where they are not installed.
func Open(t testing.TB, file string, width, height int) *Page {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err != nil {
		t.Skip("no chromedriver, which Debian's chromium-driver has")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium, which Debian's package of that name has")
	}
	cmd := exec.Command(driver, "--port=0") // a free one, which it tells
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch(t))
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &Page{t: t, base: "http://127.0.0.1:" + port(t, said)}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	options := map[string]any{"binary": chromium, "args": []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--force-device-scale-factor=1", "--hide-scrollbars", fmt.Sprintf("--window-size=%d,%d", width, height)}}
	p.do("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:chromeOptions": options, "goog:loggingPrefs": map[string]any{"browser": "ALL"}}}}, &session)
	p.base += "/session/" + session.SessionID
	t.Cleanup(func() { _ = p.try("DELETE", "", nil, nil) })
	p.do("POST", "/url", map[string]any{"url": "file://" + file}, nil)
	return p
}

// scratch returns a folder for the browser's files. Its processes write there for a moment after
// the driver has ended, so that removing it once, as t.TempDir does, can fail.
func scratch(t testing.TB) string {
	dir, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	t.Cleanup(func() {
		for end := time.Now().Add(patience); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return dir
}

var started = regexp.MustCompile(`started successfully on port (\d+)`)

// port reads chromedriver's message once it listens, and discards the rest.
func port(t testing.TB, said io.Reader) string {
	t.Helper()
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return m[1]
		}
		all.WriteString(lines.Text() + "\n")
	}
	require.Fail(t, "chromedriver did not start", "%s", all.String())
	return ""
}

// do sends a command and reads its value, if that is wanted.
func (p *Page) do(method, path string, body, value any) {
	p.t.Helper()
	require.NoError(p.t, p.try(method, path, body, value), "%s %s", method, path)
}

func (p *Page) try(method, path string, body, value any) error {
	var text []byte
	if method == http.MethodPost {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, p.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(string(answer.Value))
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, value)
}

// Eval runs the body of a function in the page and reads its result into value, which may
// be nil.
func (p *Page) Eval(value any, script string, args ...any) {
	p.t.Helper()
	if args == nil {
		args = []any{}
	}
	p.do("POST", "/execute/sync", map[string]any{"script": script, "args": args}, value)
}

// Wait waits until an expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if p.Eval(&ok, "return !!("+expression+")"); ok {
			return
		}
		require.Less(p.t, time.Since(start), patience, "%s", expression)
	}
}

// Click presses the mouse at a place of the window.
func (p *Page) Click(x, y float64) {
	p.t.Helper()
	p.pointer(move(x, y), map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0})
}

// Drag moves the mouse from one place to another with the button pressed.
func (p *Page) Drag(x1, y1, x2, y2 float64) {
	p.t.Helper()
	p.pointer(move(x1, y1), map[string]any{"type": "pointerDown", "button": 0}, move(x2, y2), map[string]any{"type": "pointerUp", "button": 0})
}

func move(x, y float64) map[string]any {
	return map[string]any{"type": "pointerMove", "duration": 0, "x": int(x + 0.5), "y": int(y + 0.5)}
}

func (p *Page) pointer(list ...map[string]any) {
	p.t.Helper()
	p.do("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "pointer", "id": "mouse", "actions": list}}}, nil)
}

// Wheel turns the wheel at a place.
func (p *Page) Wheel(x, y float64, by int) {
	p.t.Helper()
	p.do("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "wheel", "id": "wheel", "actions": []any{
		map[string]any{"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by, "duration": 0}}}}}, nil)
}

// Press presses keys, one after the other; see the protocol for those without a character.
func (p *Page) Press(keys string) {
	p.t.Helper()
	var list []any
	for _, k := range keys {
		list = append(list, map[string]any{"type": "keyDown", "value": string(k)}, map[string]any{"type": "keyUp", "value": string(k)})
	}
	p.do("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": list}}}, nil)
}

// Keys without a character.
const (
	Enter  = "\ue007"
	Escape = "\ue00c"
	Up     = "\ue013"
	Down   = "\ue015"
)

// ClickOn presses the mouse on the first element that a CSS selector finds.
func (p *Page) ClickOn(selector string) {
	p.t.Helper()
	p.do("POST", "/element/"+p.find(selector)+"/click", map[string]any{}, nil)
}

func (p *Page) find(selector string) string {
	p.t.Helper()
	var found map[string]string
	p.do("POST", "/element", map[string]any{"using": "css selector", "value": selector}, &found)
	return found[element]
}

// Text returns the text of the first element that a CSS selector finds.
func (p *Page) Text(selector string) (s string) {
	p.t.Helper()
	p.do("GET", "/element/"+p.find(selector)+"/text", nil, &s)
	return s
}

// Screenshot returns the window as a PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var text string
	p.do("GET", "/screenshot", nil, &text)
	data, err := base64.StdEncoding.DecodeString(text)
	require.NoError(p.t, err)
	return data
}

// Downloads has the browser save files to a folder without a question.
func (p *Page) Downloads(dir string) {
	p.t.Helper()
	p.do("POST", "/goog/cdp/execute", map[string]any{"cmd": "Browser.setDownloadBehavior", "params": map[string]any{"behavior": "allow", "downloadPath": dir}}, nil)
}

// Complaints returns what the page has written to its console: errors, and files
// that the browser has refused to load.
func (p *Page) Complaints() (list []string) {
	p.t.Helper()
	var log []struct{ Level, Message string }
	p.do("POST", "/se/log", map[string]any{"type": "browser"}, &log)
	for _, l := range log {
		list = append(list, l.Level+" "+l.Message)
	}
	return list
}
