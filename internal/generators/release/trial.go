package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/internal/testkit/follow"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// trialVersion is a version that no release has. It is the same for every commit, so that the build cache has what
// did not change since the last trial.
const trialVersion = "v0.999.0"

// command is the path of fxgen's package.
const command = repo.Module + "/cmd/fxgen"

// trial is a new user, who has the go command, a build cache and nothing else.
type trial struct {
	ctx  context.Context
	log  io.Writer
	root string   // the checkout, for pages and examples
	dir  string   // everything that the user has
	env  []string // of the user's commands
}

// try makes the modules of the tree as it lies, and uses them as a user does who has no checkout.
func try(ctx context.Context, w io.Writer, root string, cold bool) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	// One folder for all trials: the go command knows what it has compiled by the place of the module cache, too.
	t := &trial{ctx: ctx, log: w, root: root, dir: filepath.Join(cache, "gofx", "trial")}
	if err := removeAll(t.dir); err != nil {
		return err
	}
	tree, proxy := filepath.Join(t.dir, "tree"), filepath.Join(t.dir, "proxy")
	if err := copyTree(ctx, root, tree); err != nil {
		return err
	}
	if _, err := setRequirements(tree, trialVersion); err != nil {
		return err
	}
	if _, err := writeProxy(ctx, tree, proxy, trialVersion, time.Unix(0, 0).UTC()); err != nil {
		return err
	}
	if t.env, err = userEnv(ctx, proxy, t.dir); err != nil {
		return err
	}
	// The go command keeps lists of the files of a module by its version and place, which stay the same here while the
	// files do not.
	t.env = append(t.env, "GODEBUG=goindex=0")
	if cold {
		t.env = append(t.env, "GOCACHE="+filepath.Join(t.dir, "build"))
	}
	start := time.Now()
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"go install, and fxgen version", t.install},
		{"docs/install.md, to a program that runs its generated package", func() error { return t.page("install.md", "install") }},
		{"docs/tutorial.md", func() error { return t.page("tutorial.md", "shop") }},
		{"the README's commands", t.readme},
		{"the module bench", t.bench},
		{"fxgen in an empty root", t.container},
	} {
		began := time.Now()
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(w, "%6.1fs %6.1fs  %s\n", time.Since(began).Seconds(), time.Since(start).Seconds(), s.name)
	}
	return removeAll(t.dir)
}

// shell runs a command of a user in a folder, and returns its standard output.
func (t *trial) shell(dir, line string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(t.ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, t.env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", line, err, out.String(), said.String())
	}
	return out.String(), nil
}

// install gets the command as the documents say, and requires that it knows its version.
func (t *trial) install() error {
	if left, err := os.ReadDir(filepath.Join(t.dir, "mod")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the module cache has %d entries, want none", len(left))
	}
	out, err := t.shell(t.dir, "go install "+command+"@"+trialVersion+" && fxgen version")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(out, "\n")
	if want := repo.Module + " " + trialVersion; first != want {
		return fmt.Errorf("fxgen version says %q, want %q", first, want)
	}
	return nil
}

// page follows a document in a folder. Versions that it leaves open are the trial's, because no other is in the proxy.
func (t *trial) page(name, folder string) error {
	text, err := os.ReadFile(filepath.Join(t.root, "docs", name))
	if err != nil {
		return err
	}
	r := follow.Reader{Dir: filepath.Join(t.dir, folder), Env: t.env}
	if err := os.MkdirAll(r.Dir, 0o777); err != nil {
		return err
	}
	if err := r.Follow(string(text)); err != nil {
		return err
	}
	if r.Files == 0 || r.Commands == 0 || r.Outputs == 0 {
		return fmt.Errorf("the page has %d files, %d commands and %d outputs, want some of each", r.Files, r.Commands, r.Outputs)
	}
	return t.released(r.Dir)
}

// released requires that a module has gofx from the proxy.
func (t *trial) released(dir string) error {
	out, err := t.shell(dir, "go list -m "+repo.Module)
	if err != nil {
		return err
	}
	if want := repo.Module + " " + trialVersion; strings.TrimSpace(out) != want {
		return fmt.Errorf("the module in %s uses %q, want %q", dir, strings.TrimSpace(out), want)
	}
	return nil
}

// readme runs the README's commands on copies of the examples that they name, which require the release and replace nothing.
func (t *trial) readme() error {
	text, err := os.ReadFile(filepath.Join(t.root, "README.md"))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), "\n## Two commands\n")
	commands, _, _ := strings.Cut(rest, "\n## ")
	const digits = "examples/digits"
	dir := filepath.Join(t.dir, "readme")
	if err := os.CopyFS(filepath.Join(dir, digits), os.DirFS(filepath.Join(t.dir, "tree", digits))); err != nil {
		return err
	}
	for _, mod := range []string{"go.mod", "fxgen.mod"} {
		if _, err := t.shell(filepath.Join(dir, digits), "go mod edit -dropreplace "+repo.Module+" "+mod); err != nil {
			return err
		}
	}
	if _, err := t.shell(filepath.Join(dir, digits), "go get "+repo.Module+" && go get -tool -modfile=fxgen.mod "+command); err != nil {
		return err
	}
	run := 0
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "go generate -C "+digits) {
			continue
		}
		run++
		if _, err := t.shell(dir, line); err != nil {
			return err
		}
	}
	if run != 2 {
		return fmt.Errorf("the README has %d commands for %s, want 2", run, digits)
	}
	return t.released(filepath.Join(dir, digits))
}

// bench requires the nested module that is published, and compiles a package of it.
func (t *trial) bench() error {
	dir := filepath.Join(t.dir, "requirebench")
	_, err := t.shell(dir, "go mod init example.com/bench && go get "+repo.Module+"/bench/peers && go build "+repo.Module+"/bench/peers")
	if err != nil {
		return err
	}
	return t.released(dir)
}
