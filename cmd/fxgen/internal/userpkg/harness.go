package userpkg

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/dump"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
)

const testName = "TestFxgenHarness"

// Do does a job in a test binary of the package.
func (t *Target) Do(ctx context.Context, j *work.Job) (*work.Result, error) {
	l, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	l.place(j)
	a, err := l.run(ctx, t, j)
	if !a.missing {
		t.Output = modelOutput(a.out)
	}
	if err != nil || !a.missing {
		return a.res, err
	}
	if err := Unready(a.out, l.dir); err != nil {
		return nil, err
	}
	if ran.MatchString(a.out) {
		again := ""
		if dump.Find(a.out) == nil {
			again = t.whereItExits(ctx, l, j)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, l.died(a.out, again)
	}
	if list := compileErrors(a.out, l.dir); len(list) > 0 {
		return nil, list
	}
	e := diag.Bug("the test binary of " + l.pkg.PkgPath + " left no result")
	e.Err = fmt.Errorf("%w\n%s", a.err, a.out)
	return nil, e
}

// answer is what a run of the test binary gave.
type answer struct {
	res     *work.Result
	missing bool   // there is no result
	out     string // what the go command printed
	err     error  // what it ended with
}

// run runs the test that does the job. The error is that of the job.
func (l *loaded) run(ctx context.Context, t *Target, j *work.Job) (a answer, err error) {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return a, err
	}
	defer remove()
	if err := work.Request(dir, j); err != nil {
		return a, err
	}
	overlay, err := l.writeOverlay(t, dir)
	if err != nil {
		return a, err
	}
	cmd := proc.Command(ctx, "go", "test", "-overlay", overlay, "-count=1", "-vet=off", "-timeout=0", "-run", "^"+testName+"$") // without a pattern, so that output is shown of tests that pass too
	cmd.Env = append(GoEnv(dir), "GOTRACEBACK=all")
	cmd.Dir = l.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	a.err = proc.Run(ctx, cmd)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	a.out = out.String()
	if a.res, a.missing, err = work.Receive(dir); a.missing {
		a.err, err = errOr(a.err, err), nil
	}
	return a, err
}

// modelOutput is what the model printed, to either stream, of what a test that left
// a result printed: all before the line by which the test says how it ended.
func modelOutput(out string) string {
	for _, end := range []string{"PASS\n", "--- FAIL: "} {
		if i := strings.LastIndex(out, end); i >= 0 {
			out = out[:i]
		}
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out
}

// Unready makes an error of the go command's complaint that go.mod or go.sum lack
// what fxgen needs; nil when that is not what it says.
func Unready(out, dir string) error {
	for line := range strings.Lines(out) {
		for _, text := range []string{"missing go.sum entry", "updates to go.mod needed", "no required module provides package " + modulePath} {
			if strings.Contains(line, text) {
				return bad("go.mod and go.sum of "+dir+" lack what fxgen needs: "+strings.TrimSpace(line),
					"run go get -tool "+modulePath+"/cmd/fxgen and go mod tidy there")
			}
		}
	}
	return nil
}

const modulePath = "github.com/gofx-dev/gofx"

// place says where module style writes to, so that it can name the package's own
// declarations. A main package cannot be imported from elsewhere.
func (l *loaded) place(j *work.Job) {
	switch m := l.pkg.Module; {
	case j.OutDir == "" || m == nil:
	case j.OutDir == l.dir:
		j.PackagePath = l.pkg.PkgPath
	default:
		if rel, err := filepath.Rel(m.Dir, j.OutDir); err == nil && !strings.HasPrefix(rel, "..") {
			j.PackagePath = m.Path + "/" + filepath.ToSlash(rel)
		}
		j.OwnState = j.OwnState || l.pkg.Name == "main"
	}
}

func errOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// writeOverlay writes the files that the go command is to see instead of others
// and returns the overlay's file name.
func (l *loaded) writeOverlay(t *Target, dir string) (string, error) {
	replace := map[string]string{}
	tests, err := filepath.Glob(filepath.Join(l.dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	for _, f := range tests {
		replace[f] = "" // as if it did not exist
	}
	n := 0
	put := func(path string, data []byte) error {
		file := filepath.Join(dir, "overlay"+strconv.Itoa(n)+".go")
		n++
		replace[path] = file
		return os.WriteFile(file, data, 0o666)
	}
	if err := put(filepath.Join(l.dir, work.HarnessFile), l.test(t, dir)); err != nil {
		return "", err
	}
	if l.sig != nil {
		if err := put(filepath.Join(l.dir, work.NamesFile), l.names(t)); err != nil {
			return "", err
		}
	}
	for path, data := range l.overlay {
		if err := put(path, data); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o666)
}

// names returns what the captured package shows of itself to the test, by variables of
// a test file of its own: what is captured and its passes, unexported or not. The test
// stands outside, so that it may import what imports the package. Neither uses a name
// that a package declares at top level.
func (l *loaded) names(t *Target) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nvar ", l.pkg.Name)
	if l.isFunc {
		fmt.Fprintf(&b, "%s = %s\n", capturedName, t.Name)
	} else {
		call := "return " + l.newExpr
		if !l.newErr {
			call += ", nil"
		} else {
			call = "m, err := " + l.newExpr + "; return m, err"
		}
		fmt.Fprintf(&b, "%s = func() (any, error) { %s }\n", capturedName, call)
	}
	for i, name := range l.linked.own {
		fmt.Fprintf(&b, "\nvar %s%d = %s\n", ownName, i, name)
	}
	return []byte(b.String())
}

const capturedName, ownName = "Fxgen_captured", "Fxgen_pass"

// test is the test that does the job.
func (l *loaded) test(t *Target, dir string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s_test\n\nimport (\n\tfxgen_testing \"testing\"\n\n\tfxgen_harness %q\n%s)\n\n", l.pkg.Name, modulePath+"/cmd/fxgen/harness", l.importText())
	fmt.Fprintf(&b, "func %s(t *fxgen_testing.T) {\n\tfxgen_harness.Run(t, fxgen_harness.Source{\n", testName)
	switch {
	case t.File != "":
		fmt.Fprintf(&b, "\t\tFile: %q,\n", t.File)
	case t.Model != "":
		fmt.Fprintf(&b, "\t\tModel: %q,\n", t.Model)
	default:
		field := "New"
		if l.isFunc {
			field = "Func"
		}
		fmt.Fprintf(&b, "\t\tName: %q,\n\t\t%s: fxgen_package.%s,\n\t\tMethod: %q,\n", t.Name, field, capturedName, t.Method)
		fmt.Fprintf(&b, "\t\tParams: %#v,\n\t\tResults: %#v,\n", paramNames(l.sig.Params()), paramNames(l.sig.Results()))
	}
	b.WriteString("\t\tPasses: fxgen_harness.Passes{\n")
	for _, entry := range slices.Sorted(maps.Keys(l.linked.passes)) {
		fmt.Fprintf(&b, "\t\t\t%q: %s,\n", entry, l.linked.passes[entry])
	}
	fmt.Fprintf(&b, "\t\t},\n\t\tPlaces: %#v,\n\t}, %q)\n}\n", l.linked.places, dir)
	return []byte(b.String())
}

// compileErrors finds "file:line:col: message" in what the go command printed.
func compileErrors(out, dir string) (list diag.List) {
	for _, line := range strings.Split(out, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "vet: ")
		i := strings.Index(line, ".go:")
		if i < 0 || strings.HasPrefix(line, "panic") {
			continue
		}
		place, msg, ok := strings.Cut(line, ": ")
		p := position(place)
		if !ok || p.Line == 0 || strings.ContainsAny(p.File, " \t") {
			continue
		}
		if !filepath.IsAbs(p.File) {
			p.File = filepath.Join(dir, p.File)
		}
		e := diag.New(Compile, msg)
		e.Pos = p
		list = append(list, e)
	}
	return list
}
