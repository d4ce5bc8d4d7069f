package userpkg

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/diag"
)

const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule |
	packages.NeedEmbedFiles

// Load loads one package with its types and syntax. The go command has an environment, and an
// overlay's files in place of those on disk. Mistakes of the package's own code are no error; they
// are in its Errors, see [Problems].
func Load(ctx context.Context, pattern string, env []string, overlay map[string][]byte) (*packages.Package, error) {
	return LoadWith(&packages.Config{Context: ctx, Mode: mode, Overlay: overlay, Env: env}, pattern)
}

// LoadWith is Load for other parts of a package than its types and syntax.
func LoadWith(c *packages.Config, pattern string) (*packages.Package, error) {
	list, err := packages.Load(c, pattern)
	if err != nil {
		msg := "cannot load package " + pattern + ": " + firstLine(err.Error())
		if toolFailed.MatchString(msg) {
			return nil, diag.New(Unbuilt, msg)
		}
		return nil, bad(msg, "run fxgen in the folder of your module")
	}
	if len(list) == 0 { // with a go.mod that needs updates, for one: the go command tells, its caller does not
		return nil, bad("no package matches "+pattern+", expected one", "run go list "+pattern+", which says why; name the folder of a package, ./net for instance")
	}
	if len(list) != 1 {
		return nil, bad(strconv.Itoa(len(list))+" packages match "+pattern+", expected one", "name the folder of one package, ./net for instance")
	}
	p := list[0]
	for _, e := range p.Errors {
		if e.Kind == packages.ListError && len(p.GoFiles) == 0 && Position(e.Pos).Line == 0 {
			if info, err := os.Stat(pattern); err == nil && info.IsDir() {
				if out := LeftOut(pattern); out != "" {
					return nil, bad("package "+pattern+" has no Go files for "+runtime.GOOS+"/"+runtime.GOARCH+", left out are "+out, tagged)
				}
			}
			return nil, bad("there is no package "+pattern+" here: "+strings.Join(strings.Fields(e.Msg), " "), "name the folder of the package, ./net for instance, and run fxgen in its module")
		}
	}
	return p, nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// Problems makes diagnostics of the errors of the go command and the type checker;
// both report some mistakes.
func Problems(errs []packages.Error) (list diag.List) {
	type place struct {
		file      string
		line, col int
		msg       string
	}
	seen := map[place]bool{}
	for _, e := range errs {
		if strings.HasPrefix(e.Msg, "# ") {
			continue // a headline
		}
		d := diag.New(Compile, strings.TrimSpace(e.Msg))
		if m := unimported.FindStringSubmatch(d.Msg); m != nil {
			d = diag.New(Compile, "there is no package "+m[1]+" here").WithHint("correct the path, run go get " + m[1] + " for one of another module, or generate its code first")
		}
		if d.Pos = Position(e.Pos); d.Pos.Line == 0 && toolFailed.MatchString(d.Msg) {
			d = diag.New(Unbuilt, d.Msg)
		}
		if d.Pos.File != "" {
			if abs, err := filepath.Abs(d.Pos.File); err == nil {
				d.Pos.File = abs
			}
		}
		key := place{d.Pos.File, d.Pos.Line, d.Pos.Col, d.Msg}
		if !seen[key] {
			seen[key] = true
			list = append(list, d)
		}
	}
	if len(list) == 0 && len(errs) > 0 {
		list = append(list, diag.New(Compile, strings.TrimSpace(errs[0].Msg)))
	}
	return list
}

// unimported matches the type checker's message about an import that the go command
// does not know.
var unimported = regexp.MustCompile(`^could not import (\S+) \(`)

// toolFailed matches what a tool of the go command says when it fails for another reason than the code.
var toolFailed = regexp.MustCompile(`^(?:compile|asm|link|cgo|vet): |failed to initialize build cache|no space left on device|cannot allocate memory`)

// Position reads "file:line:col" with parts missing from the end.
func Position(s string) diag.Pos {
	if s == "" || s == "-" {
		return diag.Pos{}
	}
	var nums []int
	for len(nums) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		nums = append(nums, n)
		s = s[:i]
	}
	p := diag.Pos{File: s}
	switch len(nums) {
	case 2:
		p.Line, p.Col = nums[1], nums[0]
	case 1:
		p.Line = nums[0]
	}
	return p
}
