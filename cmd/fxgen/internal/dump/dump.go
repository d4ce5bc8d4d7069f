// Package dump reads the Go runtime's output when a program dies, or when it is
// asked for the stacks of its goroutines, and finds the line of the model in it.
package dump

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// Crash is how a program died.
type Crash struct {
	What string // "fatal error: stack overflow"
	Pos  diag.Pos
}

// headline begins the output of the runtime.
var headline = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*`)

// Find looks for a crash in the output of a program; nil when there is none. skip
// are base names of files that are not the model's.
func Find(out string, skip ...string) *Crash {
	all := headline.FindAllStringIndex(out, -1)
	slices.Reverse(all) // the model may print similar lines, but not after it
	for _, at := range all {
		stacks := parse(out[at[1]:])
		if len(stacks) == 0 {
			continue
		}
		what := out[at[0]:at[1]]
		for _, note := range []string{" [recovered]", " [recovered, repanicked]"} {
			what = strings.TrimSuffix(what, note)
		}
		return &Crash{What: what, Pos: model(stacks, skip)}
	}
	return nil
}

// Running returns the line of the model that a program of these stacks is at.
func Running(stacks string, skip ...string) diag.Pos { return model(parse(stacks), skip) }

// stack is one goroutine's, innermost frame first.
type stack struct {
	state  string
	frames []frame
	maker  []frame // the go statement that started it, if known
}

type frame struct {
	function string
	diag.Pos
}

var (
	goroutine = regexp.MustCompile(`^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\]]*)\]:$`)
	place     = regexp.MustCompile(`^\t(.+):(\d+)(?: \+0x[0-9a-f]+)?(?: .*)?$`)
)

func parse(text string) (all []stack) {
	function := ""
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := goroutine.FindStringSubmatch(line); m != nil {
			all, open = append(all, stack{state: m[1]}), true
			continue
		}
		if line == "" {
			open = false
		}
		if !open {
			continue
		}
		m := place.FindStringSubmatch(line)
		if m == nil {
			function = line
			continue
		}
		s := &all[len(all)-1]
		n, _ := strconv.Atoi(m[2])
		f := frame{Pos: diag.Pos{File: m[1], Line: n}}
		if maker, ok := strings.CutPrefix(function, "created by "); ok {
			f.function, _, _ = strings.Cut(maker, " in goroutine ")
			s.maker = append(s.maker, f)
			continue
		}
		f.function = function
		if i := strings.LastIndexByte(function, '('); i > 0 {
			f.function = function[:i]
		}
		s.frames = append(s.frames, f)
	}
	return all
}

// model returns the innermost frame of user code in the goroutine at fault: the
// one that runs, else the one that captures, else any.
func model(all []stack, skip []string) diag.Pos {
	root := standard(all)
	user := func(frames []frame) diag.Pos {
		for _, f := range frames {
			if diag.UserCode(f.function, f.File) && (root == "" || !strings.HasPrefix(f.File, root)) &&
				!slices.Contains(skip, filepath.Base(f.File)) {
				f.Func = f.function
				return f.Pos
			}
		}
		return diag.Pos{}
	}
	chosen := []func(s stack) bool{
		func(s stack) bool { return strings.HasPrefix(s.state, "running") },
		func(s stack) bool {
			return slices.ContainsFunc(s.frames, func(f frame) bool { return strings.HasPrefix(f.function, harness) })
		},
		func(stack) bool { return true },
	}
	for _, want := range chosen {
		for _, s := range all {
			if !want(s) {
				continue
			}
			if p := user(s.frames); p.File != "" {
				return p
			}
			if p := user(s.maker); p.File != "" {
				return p
			}
		}
	}
	return diag.Pos{}
}

// harness begins the names of the functions that run the model.
const harness = "github.com/gofx-dev/gofx/cmd/fxgen/"

// standard returns the folder of the standard library, as the stacks have it: the
// program may have been built by another toolchain than this one.
func standard(all []stack) string {
	for _, s := range all {
		for _, f := range slices.Concat(s.frames, s.maker) {
			for _, pkg := range []string{"runtime", "testing"} {
				dir := filepath.ToSlash(filepath.Dir(f.File))
				if root, ok := strings.CutSuffix(dir, "/src/"+pkg); ok && strings.HasPrefix(f.function, pkg+".") {
					return f.File[:len(root)+len("/src/")]
				}
			}
		}
	}
	return ""
}
