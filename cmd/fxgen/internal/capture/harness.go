package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/dump"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/keep"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/userpkg"
	"github.com/gofx-dev/gofx/lowering"
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
	if a.ended != "" {
		again := ""
		if dump.Find(a.out) == nil {
			again = t.whereItExits(ctx, l, j)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, l.died(a, again)
	}
	if err := Unready(a.out, a.err, l.dir); err != nil {
		return nil, err
	}
	if list := compileErrors(a.out, l.dir); len(list) > 0 {
		return nil, list
	}
	return nil, Unbuilt("the test binary of "+l.pkg.PkgPath, a.out, a.err)
}

// unbuiltLines of output say why: the linker lists all of its flags after one that it does not know.
const unbuiltLines = 10

// Unbuilt is the error of a program that could not be built or started where no line of code is at fault.
func Unbuilt(what, out string, err error) error {
	msg := what + " cannot be built: " + err.Error()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if more := len(lines) - unbuiltLines; more > 1 {
		lines = append(lines[:unbuiltLines], fmt.Sprintf("... and %d more lines", more))
	}
	return diag.New(userpkg.Unbuilt, strings.TrimSpace(msg+"\n"+strings.Join(lines, "\n")))
}

// answer is the result of a run of the test binary.
type answer struct {
	res     *work.Result
	missing bool   // there is no result
	out     string // output of the go command, or the binary that it built
	ended   string // how the binary ended, "" where there is none
	err     error  // error of the go command or the binary
}

// run runs the test that does the job. The error is that of the job.
func (l *loaded) run(ctx context.Context, t *Target, j *work.Job) (a answer, err error) {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return a, err
	}
	defer remove()
	if err := exchange.Request(dir, j); err != nil {
		return a, err
	}
	if err := work.Choose(dir, l.choice(t)); err != nil {
		return a, err
	}
	binary := filepath.Join(dir, "harness.exe") // Windows wants the ending
	out, buildErr, err := l.build(ctx, dir, binary)
	if err != nil {
		return a, err
	}
	a.out, a.err = string(out), buildErr
	if a.err == nil {
		// As `go test` runs it: without -test.v, so that all that is printed before the
		// last line is the model's.
		cmd := proc.Command(ctx, binary, "-test.run=^"+testName+"$", "-test.timeout=0", "-test.paniconexit0")
		cmd.Dir, cmd.Env = l.dir, append(hostEnv(), "PWD="+l.dir, "GOTRACEBACK=all", work.FolderVariable+"="+dir)
		out, a.err = proc.Output(ctx, cmd)
		a.out, a.ended = string(out), ended(a.err)
	}
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if a.res, a.missing, err = exchange.Receive(dir); a.missing {
		a.err, err = errOr(a.err, err), nil
	}
	return a, err
}

// ended says how a program ended that could be started.
func ended(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "exit status 0"
	case errors.As(err, &exit):
		return exit.Error()
	}
	return ""
}

// build builds the test binary as a file. Its source says nothing of the job: the
// same one serves all that the package has to capture.
func (l *loaded) build(ctx context.Context, dir, file string) (out []byte, buildErr, err error) {
	overlay, key, err := l.writeOverlay(dir)
	if err != nil {
		return nil, nil, err
	}
	p := keep.Binary{Key: key, Args: []string{"test", "-c", "-overlay", overlay, "-vet=off"}, Of: ".", Dir: l.dir, Env: GoEnv(dir)}
	out, buildErr = p.Build(ctx, file)
	return out, buildErr, ctx.Err()
}

// choice says which of the things that the package has are meant.
func (l *loaded) choice(t *Target) *work.Choice {
	c := &work.Choice{Name: t.Name, Method: t.Method, File: t.File, Model: t.Model, Passes: l.linked.passes}
	if l.sig != nil {
		c.Captured, c.Params, c.Outputs = l.key(t), paramNames(l.sig.Params()), paramNames(l.sig.Results())
		c.Gives = l.isFunc && givesGraph(l.sig)
	}
	return c
}

// key is the name of the captured object in the table of the package.
func (l *loaded) key(t *Target) string {
	switch {
	case l.isFunc && givesGraph(l.sig):
		return t.Name + "()"
	case l.isFunc:
		return t.Name
	}
	return l.newExpr
}

// modelOutput returns the model's part of the output of a test that left a result,
// from both streams: everything before the line with the test's outcome.
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
// modules that fxgen needs, where [keep.Binary.Build] could not add them; nil for other
// complaints.
func Unready(out string, err error, dir string) error {
	if skew := new(gomod.Skew); errors.As(err, &skew) {
		return bad(skew.Error()+" in "+dir, "use one version of both: go get "+modulePath+"@"+skew.Fxgen+", or that of go.mod for fxgen")
	}
	if line := gomod.Lacks(out); line != "" {
		return bad("go.mod and go.sum of "+dir+" lack what fxgen needs: "+line, "run go get -tool "+modulePath+"/cmd/fxgen and go mod tidy there")
	}
	return nil
}

const modulePath = gomod.Path

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

// writeOverlay writes the files that the go command is to see instead of others. It
// returns the overlay's file name, and a key of the files' contents.
func (l *loaded) writeOverlay(dir string) (file, key string, err error) {
	replace := map[string]string{}
	tests, err := filepath.Glob(filepath.Join(l.dir, "*_test.go"))
	if err != nil {
		return "", "", err
	}
	for _, f := range tests {
		replace[f] = "" // as if it did not exist
	}
	files := maps.Clone(l.overlay)
	if files == nil {
		files = map[string][]byte{}
	}
	files[filepath.Join(l.dir, exchange.HarnessFile)] = l.test()
	if l.sig != nil {
		files[filepath.Join(l.dir, exchange.NamesFile)] = l.names()
	}
	parts := []string{"harness", l.dir}
	for n, path := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, path, string(files[path]))
		replace[path] = filepath.Join(dir, "overlay"+strconv.Itoa(n)+".go")
		if err := os.WriteFile(replace[path], files[path], 0o666); err != nil {
			return "", "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, lowering.Key(parts...), os.WriteFile(file, text, 0o666)
}

// names returns the captured package's objects that it shows to the test, by functions
// in a test file of its own: everything that could be captured, and its passes,
// unexported or not. The test is outside the package, so that it may import packages
// that import it. Neither uses a name that a package declares at top level.
func (l *loaded) names() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", l.pkg.Name)
	if l.how.of != "" {
		b.WriteString("import fxgen_fmt \"fmt\"\n\n")
	}
	fmt.Fprintf(&b, "func %s() map[string]any {\n\treturn map[string]any{\n", capturedName)
	for _, name := range l.functions() {
		fmt.Fprintf(&b, "\t\t%q: %s,\n", name, name)
	}
	constructors := l.graphs()
	maps.Copy(constructors, l.makers())
	if l.newExpr != "" {
		constructors[l.newExpr] = l.how
	}
	for _, call := range slices.Sorted(maps.Keys(constructors)) {
		fmt.Fprintf(&b, "\t\t%q: func() (any, error) { %s },\n", call, constructors[call].body(call))
	}
	fmt.Fprintf(&b, "\t}\n}\n\nfunc %s() map[string]any {\n\treturn map[string]any{\n", ownName)
	for _, name := range passesOf(l.pkg, false) {
		fmt.Fprintf(&b, "\t\t%q: %s,\n", l.pkg.PkgPath+"."+name, name)
	}
	b.WriteString("\t}\n}\n")
	return []byte(b.String())
}

const capturedName, ownName = "Fxgen_captured", "Fxgen_passes"

// functions lists the functions of the package that could be captured.
func (l *loaded) functions() (names []string) {
	for name, sig := range l.funcs() {
		if sig.TypeParams().Len() == 0 && holdsTensors(sig.Params(), 0) && holdsTensors(sig.Results(), 0) {
			names = append(names, name)
		}
	}
	return names
}

// test is the test that does the job.
func (l *loaded) test() []byte {
	var b strings.Builder
	imports, passes := l.linkText()
	fmt.Fprintf(&b, "package %s_test\n\nimport (\n\tfxgen_testing \"testing\"\n\n\tfxgen_harness %q\n%s)\n\n", l.pkg.Name, modulePath+"/cmd/fxgen/harness", imports)
	fmt.Fprintf(&b, "func %s(t *fxgen_testing.T) {\n\tfxgen_harness.Run(t", testName)
	if l.sig != nil {
		fmt.Fprintf(&b, ", fxgen_package.%s(), fxgen_package.%s()", capturedName, ownName)
	} else {
		b.WriteString(", nil, nil")
	}
	fmt.Fprintf(&b, ", map[string]any{\n%s\t})\n}\n", passes)
	return []byte(b.String())
}

// NamesLines reports whether the go command found mistakes in lines of code.
func NamesLines(out string) bool { return len(compileErrors(out, "")) > 0 }

// compileErrors finds "file:line:col: message" in the output of the go command.
func compileErrors(out, dir string) (list diag.List) {
	for _, line := range strings.Split(out, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "vet: ")
		i := strings.Index(line, ".go:")
		if i < 0 || strings.HasPrefix(line, "panic") {
			continue
		}
		place, msg, ok := strings.Cut(line, ": ")
		p := userpkg.Position(place)
		if !ok || p.Line == 0 || strings.ContainsAny(p.File, " \t") {
			continue
		}
		if !filepath.IsAbs(p.File) {
			p.File = filepath.Join(dir, p.File)
		}
		e := diag.New(userpkg.Compile, msg)
		e.Pos = p
		list = append(list, e)
	}
	return list
}
