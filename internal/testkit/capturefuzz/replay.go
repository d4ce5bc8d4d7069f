package capturefuzz

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/replays"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// common is the file of a package of compiled programs that they share: the state that each has a value of, and how they
// are entered. Its types have no names, so that the package does not import the judge, whose code would be analysed with it.
const common = `package prog

import (
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/tensor"
)

// Knob is what numbers of a program come from.
type Knob struct {
	By, Calls int
	Half      float64
	On        bool
	List      []int
	Table     map[string]int
	Next      *Knob
	Ptr       *int
	Any       any
	Name      string
	Last      *tensor.Tensor
	Unread    int
}

func newKnob() *Knob {
	return &Knob{Half: 0.5, List: []int{1, 0}, Table: map[string]int{"a": 1}, Next: &Knob{By: 1}, Ptr: new(int), Any: 1, Name: "n"}
}

func (k *Knob) n0() int { return k.By }

func (k *Knob) n1() int {
	if k.On {
		return 1
	}
	return 0
}

func (k *Knob) n2() (n int) {
	for _, v := range k.List {
		n += v
	}
	return n
}

func (k *Knob) n3() int { return k.Table["a"] }

func (k *Knob) n4() int {
	if k.Next == nil {
		return 2
	}
	return k.Next.By
}

func (k *Knob) n5() int {
	if k.Ptr == nil {
		return 1
	}
	return *k.Ptr
}

func (k *Knob) n6() int {
	if v, ok := k.Any.(int); ok {
		return v
	}
	return 3
}

func (k *Knob) n7() int { return len(k.Name) }

func (k *Knob) n8() int { return cap(k.List) }

func number[T int | float64](x T, by int) T { return x + T(by) }

func position(i, by int) int {
	switch {
	case by%2 == 0:
		return i
	case i > 0:
		return i - 1
	}
	return -1 - i
}

func bound(start, end, by int) int {
	if by%2 == 0 || start <= 0 {
		return end
	}
	return end - 1
}

// Entries are the programs.
var Entries []struct {
	ID     int
	Seed   uint64
	N      int
	Inputs []string
	New    func() any
	Vars   []any
	Plain  func(target any) func(in []*tensor.Tensor) []any
	Replay func(target any, o ...compile.Option) (func(in []*tensor.Tensor) []any, func() compile.Stats)
}

type entry = struct {
	ID     int
	Seed   uint64
	N      int
	Inputs []string
	New    func() any
	Vars   []any
	Plain  func(target any) func(in []*tensor.Tensor) []any
	Replay func(target any, o ...compile.Option) (func(in []*tensor.Tensor) []any, func() compile.Stats)
}
`

const replayHeader = `package prog

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

var _, _, _, _, _ = array.F32, op.Int, nn.NewLinear, slices.Max[[]int], maps.Keys[map[string]int]

`

// effects are what programs do to their knob K, with their first input X, as their seeds say.
var effects = []string{
	"",
	"K.Calls++",
	"if K.Calls++; K.Calls%3 == 0 {\n\t\tK.By++\n\t}",
	"K.List = append(K.List[:0:0], K.By)",
	"K.List = append(K.List, 1)",
	"K.Last = X",
	"K.Next = &Knob{By: K.By}",
	"if K.On {\n\t\tK.Table[\"a\"] = K.By\n\t}",
	"*K.Ptr = K.By",
	"if X.Rank() > 0 && X.Dim(0) > 3 {\n\t\tK.Calls++\n\t}",
	"K.On = X.Rank() > 0 && X.Dim(0)%3 == 1 && K.By < 3",
	"if X.Rank() > 0 {\n\t\tn := X.Dim(0)\n\t\tif X.Dim(-1) == n || K.By == 2 {\n\t\t\tn = max(n-1, 1)\n\t\t}\n\t\tlow := X.Narrow(0, 0, n).Clone()\n\t\tK.Last = low.Reshape(n, -1)\n\t}",
	"if X.Rank() > 0 && K.By != 1 {\n\t\tn := X.Dim(0)\n\t\tK.Last = tensor.Arange(2 * n)\n\t}",
}

// closure reports whether the program is printed as a function that returns a literal.
func (p *Program) closure() bool { return p.Func && p.Seed%3 == 0 }

// looks are what programs have that keeps all their calls from being replayed, or most of them.
var looks = []string{"tensor.Data[", ".Item()", ".Bool()", ".Array()"}

// Replayable generates programs from a seed on, three of four of which look at no data, and returns the seed after the last one.
func Replayable(seed uint64, n int) (list []*Program, next uint64) {
	for len(list) < n {
		p := Generate(seed, len(list))
		seed++
		text := p.Brief()
		if len(list)%4 == 3 || !slices.ContainsFunc(looks, func(s string) bool { return strings.Contains(text, s) }) {
			list = append(list, p)
		}
	}
	return list, seed
}

// Target is the name by which fxgen compile knows the program.
func (p *Program) Target() string {
	if p.closure() {
		return "New" + p.Name()
	}
	return p.Name()
}

func (p *Program) knob() string { return fmt.Sprintf("knob%d", p.ID) }

var (
	numbers   = regexp.MustCompile(`judge\.(Number|Position|Bound)\(([^()]*)\)`)
	captured  = regexp.MustCompile(`^func (\w+)(\(.*\) .*) \{\n`)
	signature = regexp.MustCompile(`(?m)^func .*\{\n`)
)

// Replayed prints the program as a file of a package of programs that are compiled.
func (p *Program) Replayed() string {
	var b, f strings.Builder
	fmt.Fprintf(&b, "// Seed %d.\n", p.Seed)
	b.WriteString(replayHeader)
	p.declare(&b)
	head, _, _ := strings.Cut(b.String(), fmt.Sprintf("// new%d makes", p.ID))
	b.Reset()
	b.WriteString(head)
	fmt.Fprintf(&b, "var %s *Knob\n\n", p.knob())
	p.function(&f)
	knob := p.knob()
	text := movable(f.String())
	if p.closure() {
		knob = "k"
	}
	next := int(p.Seed)
	text = numbers.ReplaceAllStringFunc(text, func(s string) string {
		m := numbers.FindStringSubmatch(s)
		next++
		if m[1] == "Number" && next%10 == 9 {
			return knob + ".Half"
		}
		return fmt.Sprintf("%s(%s, %s.n%d())", strings.ToLower(m[1]), m[2], knob, next%9)
	})
	if e := effects[int(p.Seed)%len(effects)]; e != "" {
		e = strings.NewReplacer("K.", knob+".", "X", p.Inputs[0].Name).Replace(e)
		at := signature.FindAllStringIndex(text, -1)
		end := at[len(at)-1][1]
		text = text[:end] + "\t" + e + "\n" + text[end:]
	}
	if p.closure() {
		at := signature.FindAllStringIndex(text, -1)
		from := at[len(at)-1][0]
		m := captured.FindStringSubmatch(text[from:])
		body := strings.TrimSuffix(strings.TrimSpace(text[from+len(m[0]):]), "}")
		text = text[:from] + fmt.Sprintf("func New%s(k *Knob) func%s {\n\treturn func%s {\n%s}\n}\n\n", m[1], m[2], m[2], body)
	}
	b.WriteString(text)
	p.enter(&b)
	return b.String()
}

// enter prints how the judge runs the program.
func (p *Program) enter(b *strings.Builder) {
	var vars, args, results []string
	fmt.Fprintf(b, "func init() {\n\tEntries = append(Entries, entry{ID: %d, Seed: %d, N: %d, Inputs: []string{", p.ID, p.Seed, p.N)
	for i, in := range p.Inputs {
		fmt.Fprintf(b, "%q, ", in.Spec)
		args = append(args, fmt.Sprintf("in[%d]", i))
	}
	b.WriteString("}, New: func() any {\n")
	for _, f := range p.Global {
		b.WriteString("\t\t" + f.Make + "\n")
		vars = append(vars, "&"+f.Name)
	}
	fmt.Fprintf(b, "\t\t%s = newKnob()\n", p.knob())
	vars = append(vars, "&"+p.knob())
	for i := range p.Results {
		if results = append(results, fmt.Sprintf("r%d", i)); p.Form != "tuple" {
			break
		}
	}
	list := strings.Join(results, ", ")
	bind, replay := p.Name(), "Compile"+p.Name()+"("
	switch {
	case p.closure():
		fmt.Fprintf(b, "\t\treturn New%s(%s)\n", p.Name(), p.knob())
		bind, replay = "target.(func"+p.types()+")", "CompileNew"+p.Name()+"(target.(func"+p.types()+"), "
	case p.Func:
		b.WriteString("\t\treturn nil\n")
	default:
		fmt.Fprintf(b, "\t\tm := &%s{}\n", p.Name())
		for _, f := range p.Fields {
			b.WriteString("\t\t" + f.Make + "\n")
		}
		b.WriteString("\t\treturn m\n")
		bind, replay = "target.(*"+p.Name()+").Forward", "Compile"+p.Name()+"Forward("
	}
	given := strings.Join(args, ", ")
	replayed := given
	if !p.Func {
		replayed = "target.(*" + p.Name() + "), " + given
	}
	fmt.Fprintf(b, "\t}, Vars: []any{%s}, Plain: func(target any) func([]*tensor.Tensor) []any {\n\t\tf := %s\n", strings.Join(vars, ", "), bind)
	fmt.Fprintf(b, "\t\treturn func(in []*tensor.Tensor) []any {\n\t\t\t%s := f(%s)\n\t\t\treturn []any{%s}\n\t\t}\n\t}, ", list, given, list)
	fmt.Fprintf(b, "Replay: func(target any, o ...compile.Option) (func([]*tensor.Tensor) []any, func() compile.Stats) {\n\t\tf := %so...)\n", replay)
	fmt.Fprintf(b, "\t\treturn func(in []*tensor.Tensor) []any {\n\t\t\t%s := f.Call(%s)\n\t\t\treturn []any{%s}\n\t\t}, f.Stats\n\t}})\n}\n", list, replayed, list)
}

// types prints the parameters and results of the program.
func (p *Program) types() string {
	return "(" + strings.TrimSuffix(strings.Repeat("*tensor.Tensor, ", len(p.Inputs)), ", ") + ") " + p.resultType()
}

const replayMain = `package main

import (
	"` + modulePath + `/prog"
	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/replays"
)

func main() {
	for _, e := range prog.Entries {
		replays.Enter(e)
	}
	replays.Main()
}
`

// Replays compiles the programs with the command fxgen, calls them, and returns the verdicts.
func (b *Batch) Replays(fxgen string) ([]replays.Verdict, error) {
	if err := errors.Join(b.module(), b.write("prog/common.go", common), b.write("run/main.go", replayMain)); err != nil {
		return nil, err
	}
	b.Broken = map[int]string{}
	args := []string{"compile", "-o", "fx_compile.go"}
	for _, p := range b.Programs {
		if err := b.write("prog/"+p.File(), p.Replayed()); err != nil {
			return nil, err
		}
		args = append(args, p.Target())
	}
	if out, err := b.toolIn(filepath.Join(b.Dir, "prog"), fxgen, args...); err != nil {
		return nil, fmt.Errorf("fxgen compile: %w\n%s", err, cut(string(out)))
	}
	binary, verdicts := filepath.Join(b.Dir, "replay.exe"), filepath.Join(b.Dir, "replay.json")
	build := []string{"build", "-ldflags=-s -w", "-o", binary}
	if b.Overlay != "" {
		build = append(build, "-overlay", b.Overlay)
	}
	if out, err := b.tool("go", append(build, "./run")...); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, cut(string(out)))
	}
	if out, err := b.tool(binary, "-out", verdicts); err != nil {
		return nil, fmt.Errorf("the programs: %w\n%s", err, cut(string(out)))
	}
	f, err := os.Open(verdicts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []replays.Verdict
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var v replays.Verdict
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Fxgen builds the command in a folder and returns its path.
func Fxgen(dir string) (string, error) {
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "fxgen.exe")
	c := exec.Command("go", "build", "-o", binary, "./cmd/fxgen")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, cut(string(out)))
	}
	return binary, nil
}
