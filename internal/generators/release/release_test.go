package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

var day = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// write writes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
}

// small is a tree with the modules that gofx has: itself, one that is published with it, an example, an internal one,
// and data.
var small = map[string]string{
	"go.mod":                  "module " + repo.Module + "\n\ngo 1.26.0\n",
	"LICENSE":                 "a licence\n",
	"CHANGELOG.md":            "# Changelog\n\nWords.\n\n## Unreleased\n\n- New: `F`.\n\n## 0.1.0, 2026-01-01\n\n- All of it.\n",
	"api/api.go":              "// Package api has F.\npackage api\n\n// F does nothing.\nfunc F() {}\n\n// G does nothing.\nfunc G(int) {}\n",
	"cmd/hello/main.go":       "package main\n\nimport \"" + repo.Module + "/api\"\n\nfunc main() { api.F(); println(\"hello\") }\n",
	"bench/go.mod":            "module " + repo.Module + "/bench\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.0.0\n\nreplace " + repo.Module + " => ../\n",
	"bench/bench.go":          "package bench\n",
	"examples/one/go.mod":     "module example.com/one\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.0.0\n\nreplace " + repo.Module + " => ../..\n",
	"examples/one/fxgen.mod":  "module example.com/one\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.0.0\n\nreplace " + repo.Module + " => ../..\n",
	"examples/one/main.go":    "package main\n\nfunc main() {}\n",
	"internal/tool/go.mod":    "module " + repo.Module + "/internal/tool\n\ngo 1.26.0\n",
	"internal/tool/tool.go":   "package tool\n",
	"api/testdata/mod/go.mod": "module data\n",
	".gitignore":              "dist\n",
	"ignored.tmp":             "",
}

// tree makes a repository of files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	gitIn(t, dir, "init", "-q")
	commit(t, dir)
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	_, err := git(context.Background(), dir, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	require.NoError(t, err)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "all", "--date", "2026-11-29T12:00:00Z")
}

func TestCutChangeLog(t *testing.T) {
	log, notes, err := cut(small["CHANGELOG.md"], "v0.2.0", day)
	require.NoError(t, err)
	require.Equal(t, "# Changelog\n\nWords.\n\n## 0.2.0, 2026-11-29\n\n- New: `F`.\n\n## 0.1.0, 2026-01-01\n\n- All of it.\n", log)
	require.Equal(t, "- New: `F`.\n", notes)
	log, notes, err = cut("# Changelog\n\n## 0.1.0\n\nText.\n\n### Part\n\n- More.\n", "v0.1.0", day)
	require.NoError(t, err)
	require.Equal(t, "# Changelog\n\n## 0.1.0, 2026-11-29\n\nText.\n\n### Part\n\n- More.\n", log)
	require.Equal(t, "Text.\n\n### Part\n\n- More.\n", notes)
	for name, c := range map[string]struct{ log, want string }{
		"no part":     {"# Changelog\n", "the change log has no part"},
		"other":       {"# C\n\n## 0.1.0, 2026-01-01\n\n- A.\n", `the first part of the change log is "0.1.0, 2026-01-01", want "Unreleased"`},
		"twice":       {"# C\n\n## Unreleased\n\n- B.\n\n## 0.2.0, 2026-01-01\n\n- A.\n", "the change log has 0.2.0 already"},
		"empty":       {"# C\n\n## Unreleased\n\n## 0.1.0, 2026-01-01\n\n- A.\n", `the part "Unreleased" of the change log is empty`},
		"cut already": {"# C\n\n## 0.2.0, 2026-01-01\n\n- B.\n", `the first part of the change log is "0.2.0, 2026-01-01"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := cut(c.log, "v0.2.0", day)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Links of the notes lead out of the page of a release, to the files of its tag.
func TestNotesLeadToTheTag(t *testing.T) {
	require.Equal(t, "[a](https://github.com/gofx-dev/gofx/blob/v0.2.0/docs/a.md#x-y), [b](https://example.com/c), `f[0](x)`",
		absolute("[a](docs/a.md#x-y), [b](https://example.com/c), `f[0](x)`", "v0.2.0"))
}

// The repository's own change log has a part that can be cut.
func TestOwnChangeLogCanBeCut(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	log, err := os.ReadFile(filepath.Join(root, changeLog))
	require.NoError(t, err)
	list := sections(string(log))
	require.Greater(t, len(list), 1)
	version := list[1].heading
	if version == unreleased {
		version = "0.999.0"
	}
	_, notes, err := cut(string(log), "v"+version, day)
	require.NoError(t, err)
	require.NotEmpty(t, notes)
}

func TestVersions(t *testing.T) {
	require.NoError(t, checkVersion("v0.1.0"))
	require.NoError(t, checkVersion("v1.2.3-rc.1"))
	for _, v := range []string{"", "0.1.0", "v0.1", "v2.0.0", "v0.1.0+meta", "latest"} {
		require.Error(t, checkVersion(v), v)
	}
}

func TestMakeModules(t *testing.T) {
	root := tree(t, small)
	write(t, root, map[string]string{"dist/old": ""}) // git ignores it
	out := filepath.Join(t.TempDir(), "dist")
	var said bytes.Buffer
	m := maker{root: root, version: "v0.2.0", out: out, platforms: "none", log: &said}
	require.NoError(t, m.make(context.Background()))
	require.NoError(t, clean(context.Background(), root), "the tree is as it was")
	tags, err := os.ReadFile(filepath.Join(out, "TAGS"))
	require.NoError(t, err)
	require.Equal(t, "v0.2.0\nbench/v0.2.0\n", string(tags))
	require.Contains(t, said.String(), "v0.2.0, bench/v0.2.0")
	const path = "proxy/github.com/gofx-dev/gofx"
	for name, want := range map[string]string{
		"changed/examples/one/go.mod":    "module example.com/one\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.2.0\n\nreplace " + repo.Module + " => ../..\n",
		"changed/examples/one/fxgen.mod": "module example.com/one\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.2.0\n\nreplace " + repo.Module + " => ../..\n",
		path + "/@v/list":                "v0.2.0\n", path + "/bench/@v/list": "v0.2.0\n",
		path + "/@v/v0.2.0.mod":       small["go.mod"],
		path + "/bench/@v/v0.2.0.mod": "module " + repo.Module + "/bench\n\ngo 1.26.0\n\nrequire " + repo.Module + " v0.2.0\n\nreplace " + repo.Module + " => ../\n",
		"notes.md":                    "- New: `F`.\n",
	} {
		got, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
	require.ElementsMatch(t, []string{"go.mod", "LICENSE", "CHANGELOG.md", "api/api.go", "cmd/hello/main.go", ".gitignore", "ignored.tmp"}, zipped(t, filepath.Join(out, path, "@v/v0.2.0.zip"), "@v0.2.0/"))
	require.ElementsMatch(t, []string{"go.mod", "bench.go", "LICENSE"}, zipped(t, filepath.Join(out, path, "bench/@v/v0.2.0.zip"), "/bench@v0.2.0/"))
	require.NoDirExists(t, filepath.Join(out, path, "internal"))
	require.NoFileExists(t, filepath.Join(out, "SHA256SUMS"))

	again := maker{root: root, version: "v0.2.0", out: filepath.Join(t.TempDir(), "again"), platforms: "none", log: io.Discard}
	require.NoError(t, again.make(context.Background()))
	first, err := os.ReadFile(filepath.Join(out, path, "@v/v0.2.0.zip"))
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(again.out, path, "@v/v0.2.0.zip"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second), "two makings of a module differ")

	m.log = io.Discard
	require.ErrorContains(t, m.make(context.Background()), "is not empty")
	m.out, m.apply = filepath.Join(t.TempDir(), "applied"), true
	require.NoError(t, m.make(context.Background()))
	log, err := os.ReadFile(filepath.Join(root, changeLog))
	require.NoError(t, err)
	require.Contains(t, string(log), "\n## 0.2.0, ")
	m.out = filepath.Join(t.TempDir(), "dirty")
	require.ErrorContains(t, m.make(context.Background()), "the tree differs from its last commit, want a clean one")
}

// zipped lists the files of a module's zip without the prefix that all must have.
func zipped(t *testing.T, path, prefix string) (names []string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	for _, f := range z.File {
		_, name, ok := strings.Cut(f.Name, prefix)
		require.True(t, ok, f.Name)
		names = append(names, name)
	}
	return names
}

func TestCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "got no command",
		"publish":                    `got command "publish"`,
		"make -version 1":            `got version "1"`,
		"make -version v0.1.0 extra": `got argument "extra"`,
		"make -version v0.1.0 -platforms plan9/amd64": `got platform "plan9/amd64"`,
	} {
		require.ErrorContains(t, run(context.Background(), strings.Fields(line), io.Discard), want, line)
	}
	all, err := parsePlatforms(platforms)
	require.NoError(t, err)
	require.Len(t, all, 6)
}

// Two builds of a program in two folders have equal bytes.
func TestBuildsAreReproducible(t *testing.T) {
	root, program := tree(t, small), repo.Module+"/cmd/hello@v0.2.0"
	p := platform{runtime.GOOS, runtime.GOARCH}
	build2(t, root, program, p, false)
}

// The same for fxgen and another system, the second build without what the first one has compiled.
func TestBuildsOfFxgenAreReproducible(t *testing.T) {
	fxtest.Nightly(t)
	root, err := repo.Root()
	require.NoError(t, err)
	first := build2(t, root, command+"@"+trialVersion, platform{"windows", "arm64"}, true)
	bom, err := billOf(first, day)
	require.NoError(t, err)
	require.Contains(t, string(bom), "mousetrap")
}

// build2 builds a program of a tree in two folders, and returns one of the equal files.
func build2(t *testing.T, root, program string, p platform, cold bool) string {
	t.Helper()
	_, version, _ := strings.Cut(program, "@")
	var files [2]string
	var data [2][]byte
	for i := range files {
		dir := filepath.Join(t.TempDir(), strings.Repeat("x", 1+7*i))
		require.NoError(t, os.Mkdir(dir, 0o777))
		t.Cleanup(func() { require.NoError(t, removeAll(dir)) })
		copied := filepath.Join(dir, "tree")
		require.NoError(t, copyTree(context.Background(), root, copied))
		_, err := writeProxy(context.Background(), copied, filepath.Join(dir, "proxy"), version, day)
		require.NoError(t, err)
		env, err := userEnv(context.Background(), filepath.Join(dir, "proxy"), dir)
		require.NoError(t, err)
		if i == 1 {
			env = append(env, "GOAMD64=v3")
		}
		if i == 1 && cold {
			env = append(env, "GOCACHE="+filepath.Join(dir, "cache"))
		}
		files[i], err = build(context.Background(), env, dir, program, p)
		require.NoError(t, err)
		data[i], err = os.ReadFile(files[i])
		require.NoError(t, err)
		require.NotContains(t, string(data[i]), dir, "the folder is in the binary")
	}
	require.True(t, bytes.Equal(data[0], data[1]), "%d and %d bytes", len(data[0]), len(data[1]))
	return files[0]
}

func TestArchivesHaveEqualBytes(t *testing.T) {
	files := []member{{"fxgen", []byte("program"), 0o755}, {"LICENSE", []byte("licence"), 0o644}}
	first, err := packed(day, files)
	require.NoError(t, err)
	second, err := packed(day, files)
	require.NoError(t, err)
	require.Equal(t, first, second)
	z, err := gzip.NewReader(bytes.NewReader(first))
	require.NoError(t, err)
	require.True(t, z.ModTime.IsZero())
	r := tar.NewReader(z)
	for _, f := range files {
		h, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, []any{f.name, f.mode, day, 0, ""}, []any{h.Name, h.Mode, h.ModTime.UTC(), h.Uid, h.Uname})
	}
	require.Equal(t, strings.Repeat("b", 64)+"  a.txt\n"+strings.Repeat("a", 64)+"  b.txt\n",
		string(sumLines(map[string]string{"b.txt": strings.Repeat("a", 64), "a.txt": strings.Repeat("b", 64)})))
}

func TestBillNamesEverything(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Path: command, Main: debug.Module{Path: repo.Module, Version: "v0.2.0", Sum: "h1:own="},
		Deps:     []*debug.Module{{Path: "github.com/spf13/cobra", Version: "v1.10.2", Sum: "h1:cobra="}},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"}}}
	b, err := billFrom(info, day)
	require.NoError(t, err)
	main := b.Metadata.Component
	require.Equal(t, []any{"application", "fxgen", "v0.2.0", "pkg:golang/github.com/gofx-dev/gofx@v0.2.0", []license{{"Apache-2.0"}}}, []any{main.Type, main.Name, main.Version, main.URL, main.Licenses})
	require.Equal(t, []property{{"go:sum", "h1:own="}, {"go:build:GOOS", "linux"}, {"go:build:-trimpath", "true"}}, main.Properties)
	require.Len(t, b.Components, 2)
	require.Equal(t, []string{"pkg:golang/std@1.26.8", "pkg:golang/github.com/spf13/cobra@v1.10.2"}, b.Dependencies[0].On)
	for _, c := range b.Components {
		require.Contains(t, b.Dependencies[0].On, c.Ref)
	}
	for want, m := range map[string]*debug.Module{
		"the licence of example.com/x is unknown": {Path: "example.com/x", Version: "v1.0.0"},
		"linked in version v1.0.0":                {Path: "github.com/spf13/cobra", Version: "v1.0.0"},
		"is replaced by ../cobra":                 {Path: "github.com/spf13/cobra", Version: "v1.10.2", Replace: &debug.Module{Path: "../cobra"}},
	} {
		_, err := billFrom(&debug.BuildInfo{Path: command, Main: info.Main, Deps: []*debug.Module{m}}, day)
		require.ErrorContains(t, err, want)
	}
}

// The bill of a program that go build made is JSON of CycloneDX.
func TestBillOfABinaryIsJSON(t *testing.T) {
	root := tree(t, map[string]string{"go.mod": small["go.mod"], "cmd/hello/main.go": "package main\n\nfunc main() {}\n"})
	bin := filepath.Join(t.TempDir(), "hello")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/hello")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := billOf(bin, day)
	require.NoError(t, err)
	var b bill
	require.NoError(t, json.Unmarshal(text, &b))
	require.Len(t, b.Metadata.Component.Hashes[0].Content, 64)
	require.Equal(t, "2026-11-29T12:00:00Z", b.Metadata.Timestamp)
}

func TestRecipes(t *testing.T) {
	dir := t.TempDir()
	all, err := parsePlatforms(platforms)
	require.NoError(t, err)
	m := maker{version: "v0.2.0", out: dir}
	sums := map[string]string{}
	for i, p := range all {
		sums[p.archive(m.version)] = fmt.Sprintf("%064d", i)
	}
	require.NoError(t, m.recipes(all, sums))
	ruby, err := os.ReadFile(filepath.Join(dir, "fxgen.rb"))
	require.NoError(t, err)
	for name, sum := range sums {
		want := 1
		if strings.Contains(name, "windows") {
			want = 0
		}
		require.Equal(t, want, strings.Count(string(ruby), "/v0.2.0/"+name+"\"\n      sha256 \""+sum+"\"\n"), name)
	}
	docker, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	require.NoError(t, err)
	require.Contains(t, string(docker), "\nFROM scratch\n")
	require.Contains(t, string(docker), "\nADD fxgen_0.2.0_linux_${TARGETARCH}.tar.gz /bin/\n")
	t.Run("ruby", func(t *testing.T) {
		if _, err := exec.LookPath("ruby"); err != nil {
			t.Skip("Debian's ruby is not installed")
		}
		out, err := exec.Command("ruby", "-c", filepath.Join(dir, "fxgen.rb")).CombinedOutput()
		require.NoError(t, err, string(out))
	})
	windows := t.TempDir()
	m.out = windows
	require.NoError(t, m.recipes([]platform{{"windows", "amd64"}}, sums))
	require.NoFileExists(t, filepath.Join(windows, "Dockerfile"))
	require.NoFileExists(t, filepath.Join(windows, "fxgen.rb"))
}

func TestTrialWantsAnEmptyModuleCache(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "mod", "left"), 0o777))
	tr := &trial{ctx: context.Background(), dir: dir}
	require.EqualError(t, tr.install(), "the module cache has 1 entries, want none")
}

func TestLastRelease(t *testing.T) {
	require.Equal(t, "v0.10.0", last([]string{"v0.9.0", "v0.10.0", "v0.2.0", "v1.0.0-rc.1", "vintage"}))
	require.Empty(t, last([]string{"vintage", "v1.0.0-rc.1"}))
}

func TestJudgeAsksForALine(t *testing.T) {
	const changes = "- ./api.F: removed"
	log := func(entry string) string {
		return "# C\n\n## Unreleased\n\n" + entry + "\n\n## 0.1.0, 2026-01-01\n\n- **Breaking:** old.\n"
	}
	require.NoError(t, judge(io.Discard, "v0.1.0", "", log("- New.")))
	require.NoError(t, judge(io.Discard, "v0.1.0", changes, log("- **Breaking:** `F` is gone, call `G`.")))
	var said bytes.Buffer
	require.ErrorContains(t, judge(&said, "v0.1.0", changes, log("- New.")), `the part "## Unreleased" of CHANGELOG.md has no entry that begins with "- **Breaking:**"`)
	require.Equal(t, "incompatible with v0.1.0:\n- ./api.F: removed\n", said.String())
	require.Error(t, judge(io.Discard, "v0.1.0", changes, "# C\n\n## 0.1.0, 2026-01-01\n\n- **Breaking:** old.\n"), "the line is of the last release")
}

// TestIncompatibleChangesAreFound has two versions of a module: F is gone, G has another type, H is new.
func TestIncompatibleChangesAreFound(t *testing.T) {
	if _, err := exec.LookPath("apidiff"); err != nil {
		if out, err := exec.Command("go", "install", "-n", apidiffTool).CombinedOutput(); err != nil {
			t.Skipf("apidiff is not installed and cannot be: %s", out)
		}
	}
	ctx := context.Background()
	root := tree(t, small)
	var said bytes.Buffer
	require.NoError(t, compatible(ctx, &said, root, ""))
	require.Contains(t, said.String(), "no release has a tag yet")

	gitIn(t, root, "tag", "v0.1.0")
	write(t, root, map[string]string{"api/api.go": small["api/api.go"] + "\n// H is new.\nfunc H() {}\n"})
	said.Reset()
	require.NoError(t, compatible(ctx, &said, root, ""))
	require.Equal(t, "the exported names are compatible with those of v0.1.0\n", said.String())

	write(t, root, map[string]string{"api/api.go": "// Package api has less.\npackage api\n\n// G does nothing.\nfunc G(string) {}\n"})
	require.NoError(t, os.RemoveAll(filepath.Join(root, "cmd")))
	said.Reset()
	require.ErrorContains(t, compatible(ctx, &said, root, ""), "has no entry that begins with")
	require.Contains(t, said.String(), "F: removed")
	require.Contains(t, said.String(), "G: changed from func(int) to func(string)")
	require.NotContains(t, said.String(), "H")
	write(t, root, map[string]string{"CHANGELOG.md": strings.Replace(small["CHANGELOG.md"], "- New", "- **Breaking:** F is gone.\n- New", 1)})
	require.NoError(t, compatible(ctx, io.Discard, root, "v0.1.0"))
	trees, err := git(ctx, root, "worktree", "list")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(trees, "\n"), "the tree of the tag is gone")
	require.Error(t, compatible(ctx, io.Discard, root, "v9.9.9"))
}

// CI installs the version of apidiff that would run without it.
func TestCIHasTheSameApidiff(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	require.Contains(t, string(ci), "go install "+apidiffTool+" ")
}

func TestStderrOfOtherErrors(t *testing.T) { require.Empty(t, stderrOf(errors.New("other"))) }
