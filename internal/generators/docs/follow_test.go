package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/workdir"
)

// ownPart is the heading of a guide's part on this repository alone.
const ownPart = "\n## In gofx itself"

// followed are the guides that begin with a fresh module.
var followed = []string{"add-an-op.md", "add-a-pass.md", "add-a-target.md", "tutorial.md"}

// TestGuidesAreFollowedWordByWord follows the guides in a fresh module: it writes the
// files, runs the commands, and compares their output.
func TestGuidesAreFollowedWordByWord(t *testing.T) {
	for _, name := range followed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(top, "docs", name))
			require.NoError(t, err)
			page, _, _ := strings.Cut(string(text), ownPart)
			r := reader{dir: workdir.Of(t), env: userEnv(t)}
			for _, step := range strings.Split(page, "\n## ") {
				title, _, _ := strings.Cut(step, "\n")
				if !t.Run(title, func(t *testing.T) { r.t = t; r.follow(step) }) {
					return // the next steps stand on this one
				}
			}
			require.Greater(t, r.files, 2)
			require.Greater(t, r.commands, 3)
			require.Greater(t, r.outputs, 1)
		})
	}
}

// reader is a user who follows a guide.
type reader struct {
	t        *testing.T
	dir      string
	env      []string
	out      string // of the last command
	files    int
	commands int
	outputs  int
}

// home stands for the folder of the module in a guide's output.
const home = "/home/gopher/shop"

// follow carries out the blocks of a step.
func (r *reader) follow(step string) {
	fence := regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(step, -1) {
		if before := step[at:m[0]]; !strings.HasSuffix(before, "-->\n") { // a quotation
			r.block(before, step[m[2]:m[3]], step[m[4]:m[5]])
		}
		at = m[1]
	}
}

var goFile = regexp.MustCompile("`([\\w/]+\\.(?:go|fx))`")

// block carries out a block; before is the text before it.
func (r *reader) block(before, language, text string) {
	last := before[strings.LastIndex(strings.TrimSpace(before), "\n\n")+1:]
	switch {
	case language == "go" || language == "fx":
		names := goFile.FindAllStringSubmatch(last, -1)
		require.NotEmpty(r.t, names, "no name of a file stands before\n%s", text)
		path := filepath.Join(r.dir, names[len(names)-1][1])
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(r.t, os.WriteFile(path, []byte(text), 0o666))
		r.files++
	case language == "sh":
		for line := range strings.Lines(text) {
			r.run(strings.TrimSpace(line))
		}
	case strings.HasSuffix(strings.TrimSpace(last), "prints"):
		require.Equal(r.t, strings.TrimSpace(text), strings.TrimSpace(r.out))
		r.outputs++
	default:
		r.t.Fatalf("a block is neither a file, nor commands, nor what they print:\n%s", text)
	}
}

// run runs a command. The module uses this checkout instead of a release.
func (r *reader) run(line string) {
	r.shell(line)
	if strings.HasPrefix(line, "go mod init ") {
		checkout, err := filepath.Abs(top)
		require.NoError(r.t, err)
		r.shell("go mod edit -replace github.com/gofx-dev/gofx=" + checkout)
	}
	r.commands++
}

func (r *reader) shell(line string) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = r.dir, r.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	require.NoError(r.t, err, "%s\n%s", line, out.String())
	r.out = strings.ReplaceAll(out.String(), r.dir, home)
}

// userEnv is the environment of a user who has the contents of the module cache. Modules
// that go get asks for beyond it, like the requirements of a module that nothing here
// imports, come from the user's proxy.
func userEnv(t *testing.T) []string {
	programs, err := workdir.Kept("programs of " + t.Name())
	if err != nil { // the user has no cache folder that can be written to
		programs = t.TempDir()
	}
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	var m map[string]string
	require.NoError(t, json.Unmarshal(out, &m))
	proxy := filepath.ToSlash(filepath.Join(m["GOMODCACHE"], "cache", "download"))
	return append(os.Environ(), "GOCACHE="+m["GOCACHE"], "GOMODCACHE="+m["GOMODCACHE"], "GOPROXY=file://"+proxy+","+m["GOPROXY"], "GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=", "GOTOOLCHAIN=local", "NO_COLOR=1",
		"FXGEN_CACHE="+programs)
}

// TestCommandsOfTheGeneratedPage runs the commands of docs/generated.md in the
// folder of the package that it shows.
func TestCommandsOfTheGeneratedPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(top, "docs", "generated.md"))
	require.NoError(t, err)
	list := blocks(string(page), "sh")
	require.NotEmpty(t, list)
	r := reader{t: t, dir: filepath.Join(top, "examples", "digits"), env: userEnv(t)}
	for _, text := range list {
		for line := range strings.Lines(text) {
			out := filepath.Join(t.TempDir(), "program")
			r.shell(strings.Replace(strings.TrimSpace(line), " -o digits ", " -o "+out+" ", 1))
			require.FileExists(t, out)
		}
	}
}
