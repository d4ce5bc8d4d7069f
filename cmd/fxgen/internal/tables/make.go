package tables

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/compile/source"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/effects"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// Request says what is to be written.
type Request struct {
	File  string   // absolute path of the generated file
	Funcs []string // "Classify", "Decoder.Step", "example.com/net#Net.Forward"
	Go    string   // the version of the go command
	Env   []string // of the go command
}

// File is a file by its absolute path.
type File struct {
	Path string
	Data []byte
}

// Funcs returns the functions of which a file that Make made has constructors, nil for other files.
func Funcs(text []byte) []string {
	if source.Marked(text) {
		for line := range strings.Lines(string(text)) {
			if list, ok := strings.CutPrefix(line, source.Mark+" "); ok {
				return strings.Fields(list)
			}
		}
	}
	return nil
}

// maker makes the files of one request.
type maker struct {
	r       *Request
	pkg     *packages.Package // of the generated file, without it
	targets []*target
	known   map[string]string // names of packages by path
}

// Make analyses the functions. The first file is the one of the request; the others embed code.
func Make(ctx context.Context, r *Request) ([]File, error) {
	if err := gosrc.CheckFile(filepath.Base(r.File)); err != nil {
		return nil, err
	}
	m := &maker{r: r, known: map[string]string{}}
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	bare, err := m.file(nil)
	if err != nil {
		return nil, err
	}
	p, err := effects.OpenOverlay(ctx, filepath.Dir(r.File), r.Env, map[string][]byte{r.File: bare})
	if err != nil {
		return nil, err
	}
	return m.analysed(ctx, p, bare)
}

// load reads the package without the generated file, and finds the functions.
func (m *maker) load(ctx context.Context) error {
	dir := filepath.Dir(m.r.File)
	if err := userpkg.Folder(dir); err != nil {
		return err
	}
	name, err := packageOf(m.r.File)
	if err != nil {
		return err
	}
	c := &packages.Config{Context: ctx, Env: m.r.Env, Dir: dir, Overlay: map[string][]byte{m.r.File: []byte("package " + name + "\n")},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule}
	if m.pkg, err = userpkg.LoadWith(c, "."); err != nil {
		return err
	}
	if m.pkg.Module == nil {
		return diag.New(userpkg.NoPackage, "package "+m.pkg.PkgPath+" belongs to no module").WithHint("generate code in a module of your own")
	}
	var errs diag.List
	for _, f := range m.r.Funcs {
		t, err := m.find(c, f)
		if errs.Add(err); err == nil {
			m.targets = append(m.targets, t)
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	return m.distinct()
}

// packageOf is the name of the package that a file is to be in.
func packageOf(file string) (string, error) {
	for _, f := range userpkg.GoFiles(filepath.Dir(file)) {
		if f == file || strings.HasSuffix(f, "_test.go") {
			continue
		}
		if name := packageName(f); name != "" {
			return name, nil
		}
	}
	return "", diag.New(userpkg.NoPackage, filepath.Dir(file)+" has no Go code but what fxgen writes").WithHint("generate the file in the package that calls the functions")
}

// analysed makes the files once the code is loaded.
func (m *maker) analysed(ctx context.Context, p *effects.Loaded, bare []byte) ([]File, error) {
	t := &tables{code: source.Code{File: m.pkg.PkgPath + "/" + filepath.Base(m.r.File), Command: m.command(), Go: source.Minor(m.r.Go)}}
	seen := map[string]bool{m.pkg.PkgPath: true}
	var a *answer
	if slices.ContainsFunc(m.targets, func(x *target) bool { return x.maker }) {
		var err error
		if a, err = m.ask(ctx, bare); err != nil {
			return nil, err
		}
	}
	var errs diag.List
	for _, x := range m.targets {
		s, err := m.summary(p, x, a)
		if errs.Add(err); err != nil {
			continue
		}
		t.list = append(t.list, s)
		if x.maker || len(s.Bodies)+len(s.Tells) > 0 {
			t.code.Lines = max(t.code.Lines, source.OfFunctions)
		}
		if len(s.Ints.Asks) > 0 {
			t.code.Lines = source.OfAll
		}
		for _, path := range s.Packages {
			seen[path] = true
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	files, err := m.code(p, t, seen)
	if err != nil {
		return nil, err
	}
	main, err := m.file(t)
	if err != nil {
		return nil, err
	}
	return slices.Insert(files, 0, File{m.r.File, main}), nil
}

func (m *maker) summary(p *effects.Loaded, x *target, a *answer) (*effects.Summary, error) {
	if x.maker {
		return m.closure(p, x, a)
	}
	fn, err := p.FunctionOf(x.pkg.Path(), x.name)
	if err != nil {
		return nil, err
	}
	return p.Summary(fn), nil
}

// tables are the tables of all functions, and the code that they are of.
type tables struct {
	code source.Code
	list []*effects.Summary
}

// code enters the code of packages, and makes the files that embed it.
func (m *maker) code(p *effects.Loaded, t *tables, paths map[string]bool) (files []File, err error) {
	modules := map[string]string{}
	list := make([]string, 0, len(paths))
	for path := range paths {
		list = append(list, path)
	}
	slices.Sort(list)
	for _, path := range list {
		q := p.Source(path)
		if q == nil || q.Module == nil {
			return nil, diag.New(userpkg.NoPackage, "the go command tells nothing of the module of package "+path).WithHint("run fxgen again once no other program changes the module or cleans the build cache")
		}
		switch mod := q.Module; {
		case !mod.Main:
			modules[mod.Path] = version(mod)
		case path != m.pkg.PkgPath && ours(path): // gofx's own libraries change with fxgen
		default:
			dir := filepath.Dir(q.GoFiles[0])
			hash, err := source.Hash(os.DirFS(dir), t.code.Lines)
			if err != nil {
				return nil, err
			}
			t.code.Packages = append(t.code.Packages, source.Package{Path: path, Hash: hash})
			files = append(files, embedding(dir, q.Name, path)...)
		}
	}
	if p.Source(m.pkg.PkgPath).Module.Path != gofx {
		modules[gofx] = version(p.Modules[gofx])
	}
	for path, v := range modules {
		t.code.Modules = append(t.code.Modules, source.Module{Path: path, Version: v})
	}
	slices.SortFunc(t.code.Modules, func(a, b source.Module) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

const gofx = "github.com/gofx-dev/gofx"

func ours(path string) bool { return path == gofx || strings.HasPrefix(path, gofx+"/") }

func version(m *packages.Module) string {
	if m.Replace != nil {
		return source.Version(m.Version, m.Replace.Path, m.Replace.Version)
	}
	return source.Version(m.Version, "", "")
}
