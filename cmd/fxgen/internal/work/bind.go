package work

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/shape"
)

// mostGuessed is how many elements an input may have whose value is proposed.
const mostGuessed = 64

// mostGuesses is how often a model is imported to find a value, at most.
const mostGuesses = 32

// areNumbers reports whether the value of an input is given as numbers, 2,3 or true.
func areNumbers(value string) bool {
	for _, s := range strings.Split(value, ",") {
		if _, err := strconv.ParseFloat(s, 64); err != nil && s != "true" && s != "false" {
			return false
		}
	}
	return true
}

// numbers is the array that is written on the command line, of a type of at most one dimension, or of
// one row, as a text of tokens is. A type of which nothing is known is i64[n].
func numbers(value string, t shape.Type) (*array.Array, error) {
	parts := strings.Split(value, ",")
	d, dims := array.I64, []int{len(parts)}
	if t.DType() != array.Invalid {
		d = t.DType()
	}
	for i := range max(t.Rank()-1, 0) {
		if n, fixed := t.Dim(i).Int(); fixed && n != 1 {
			return nil, diag.New(BadValue, "numbers are for inputs of one dimension or one row, the input is "+t.String()).WithHint("give FILE.npy or FILE.pb")
		}
		dims = slices.Insert(dims, 0, 1)
	}
	n, fixed := elems(t)
	if t.Rank() > 1 {
		n, fixed = t.Dim(-1).Int()
	}
	if fixed && n != len(parts) {
		return nil, diag.New(BadValue, "the input is "+t.String()).WithHint("give as many numbers as it has elements: " + strconv.Itoa(n))
	}
	if t.Rank() == 0 {
		dims = nil
	}
	a := array.New(d, dims...)
	for i, s := range parts {
		if err := setNumber(a, i, s); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// elems is how many elements a type of at most one dimension has, where that is known.
func elems(t shape.Type) (n int, known bool) {
	switch t.Rank() {
	case 0:
		return 1, true
	case 1:
		return t.Dim(0).Int()
	}
	return 0, false
}

// setNumber sets an element to the number in a text, which it must be able to hold.
func setNumber(a *array.Array, i int, s string) error {
	switch d := a.DType(); {
	case s == "true" || s == "false":
		if d != array.Bool {
			return diag.New(BadValue, s+" is no "+d.String())
		}
		array.SetInt64At(a, i, map[bool]int64{true: 1}[s == "true"])
	case d.IsFloat():
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return err
		}
		array.SetFloat64At(a, i, f)
	default:
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil {
			array.SetInt64At(a, i, n)
		}
		if err != nil || array.Int64At(a, i) != n {
			return diag.New(BadValue, s+" is no "+d.String())
		}
	}
	return nil
}

// given are the values of the model's inputs that the job has as files or numbers.
func (s *Source) given(j *Job) (map[string]*array.Array, error) {
	values := map[string]*array.Array{}
	for _, in := range s.onnx.Describe().Inputs {
		v, ok := lookup(j.In, in.Name)
		var a *array.Array
		var err error
		switch {
		case ok && IsFile(v):
			a, err = readValue(Named{in.Name, v})
		case ok && areNumbers(v):
			if a, err = numbers(v, in.Type); err != nil {
				err = badValue("-in "+in.Name+"="+v, err)
			}
		}
		if err != nil {
			return nil, err
		}
		if a != nil {
			values[in.Name] = a
		}
	}
	return values, nil
}

// cure returns flags that bind all inputs that determine sizes, and a line that explains
// the values. They come from a sample next to the model, else they are small values with
// which the import works, else files that the user has to make of the inputs in names.
func (s *Source) cure(given map[string]*array.Array, names []string) string {
	if flags := s.sampleFlags(given); flags != "" {
		return "give the values of these inputs, which are fixed then; those of a sample are " + flags
	}
	if flags := s.guessedFlags(given); flags != "" {
		return "give the values of these inputs, which are fixed then, for example " + flags
	}
	var flags []string
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		flags = append(flags, flag(name, "FILE.npy"))
	}
	return "give the values of these inputs, which are fixed then: " + strings.Join(flags, " ")
}

// sampleFlags are those with files of a sample, "" where it is no cure.
func (s *Source) sampleFlags(given map[string]*array.Array) string {
	values, texts := maps.Clone(given), map[string]string{}
	for i, name := range s.onnx.Inputs() {
		file := filepath.Join(filepath.Dir(s.path), "test_data_set_0", "input_"+strconv.Itoa(i)+".pb")
		if a, err := onnx.ReadTensor(file); err == nil && values[name] == nil {
			values[name], texts[name] = a, relative(file)
		}
	}
	return s.flags(given, values, texts)
}

// guessedFlags returns flags with small values with which the model can be imported, ""
// if it found none. It tries ones after 1 or -1, in each combination, or after 0 or 2
// for all.
func (s *Source) guessedFlags(given map[string]*array.Array) string {
	var open []onnx.Described
	for _, in := range s.onnx.Describe().Inputs {
		if n, known := elems(in.Type); given[in.Name] == nil && in.Type.Ranked() && in.Type.Rank() <= 1 && (!known || n > 0 && n <= mostGuessed) {
			open = append(open, in)
		}
	}
	for k := range min(1<<min(len(open), 8), mostGuesses) {
		if flags := s.guess(given, open, func(i int) string { return []string{"1", "-1"}[k>>min(i, 8)&1] }); flags != "" {
			return flags
		}
	}
	for _, first := range []string{"0", "2"} {
		if flags := s.guess(given, open, func(int) string { return first }); flags != "" {
			return flags
		}
	}
	return ""
}

// guess tries one value for each of several inputs.
func (s *Source) guess(given map[string]*array.Array, open []onnx.Described, first func(i int) string) string {
	values, texts := maps.Clone(given), map[string]string{}
	at := 0
	for _, in := range open {
		n, known := elems(in.Type)
		if !known {
			n = 1
		}
		text := strings.Repeat(",1", n)[1:]
		if in.Type.DType().IsInt() {
			text = first(at) + text[1:]
			at++
		}
		if a, err := numbers(text, in.Type); err == nil {
			values[in.Name], texts[in.Name] = a, text
		}
	}
	return s.flags(given, values, texts)
}

// flags are those of the inputs that importing binds to values, "" where it fails.
func (s *Source) flags(given, values map[string]*array.Array, texts map[string]string) string {
	_, bound, err := s.onnx.ImportFor(values, onnx.Options{Inputs: s.types})
	if err != nil {
		return ""
	}
	var flags []string
	for _, name := range bound {
		if given[name] == nil {
			flags = append(flags, flag(name, texts[name]))
		}
	}
	return strings.Join(flags, " ")
}

// flag is -in NAME=VALUE for a shell.
func flag(name, value string) string { return shellFlag("-in", name+"="+value) }

// shellFlag is a flag with its value for a shell.
func shellFlag(flag, text string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_-+=.,/:@", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return flag + " " + text
	}
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return flag + " " + diag.Quote(text) // a terminal must not get the bytes of a file's names
	}
	return flag + " '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// relative is a path from the working folder on, where that is shorter.
func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, abs); err == nil && len(rel) < len(abs) {
		return rel
	}
	return path
}
