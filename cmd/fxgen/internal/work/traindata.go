package work

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/train"
)

// DataEndings are those of files of training data.
var DataEndings = []string{".npz", ".npy", ".csv"}

// DataFile takes PATH, or PATH.npz#NAME for an array of an archive, apart.
func DataFile(value string) (path, array string) {
	if path, array, ok := strings.Cut(value, ".npz#"); ok {
		return path + ".npz", array
	}
	return value, ""
}

// arrays reads training data: the model's inputs in their order, then the target, with the names
// that messages give them.
func (l *learner) arrays(files []Named) (list []*array.Array, names []string, err error) {
	if len(files) == 1 && files[0].Name == "" && filepath.Ext(files[0].Value) == ".csv" {
		return l.table(files[0].Value)
	}
	have := map[string]*array.Array{}
	from := map[string]string{}
	var order []string
	var errs diag.List
	add := func(name, file string, a *array.Array, err error) {
		switch {
		case err != nil:
			errs.Add(badValue("-data "+file, err))
		case have[name] != nil:
			errs.Add(diag.New(BadValue, "-data: "+diag.Name(name)+" is in "+from[name]+" and in "+file).WithHint("give each array once"))
		default:
			have[name], from[name], order = a, file, append(order, name)
		}
	}
	for _, f := range files {
		path, key := DataFile(f.Value)
		switch {
		case f.Name != "" && filepath.Ext(path) == ".npz" && key == "":
			a, err := fromArchive(path, f.Name)
			add(f.Name, filepath.Base(path), a, err)
		case f.Name != "" && key != "":
			a, err := archived(path, key)
			add(f.Name, filepath.Base(path)+"#"+key, a, err)
		case f.Name != "" && filepath.Ext(path) == ".npy":
			a, err := npy.ReadFile(path)
			add(f.Name, filepath.Base(path), a, err)
		case f.Name == "" && filepath.Ext(path) == ".npz" && key == "":
			archive, err := npy.OpenArchive(path)
			if err != nil {
				errs.Add(badValue("-data "+path, err))
				continue
			}
			for _, name := range archive.Names() {
				a, err := archive.Get(name)
				if err == nil {
					a = array.Clone(a)
				}
				add(name, filepath.Base(path), a, err)
			}
			_ = archive.Close()
		default:
			errs.Add(diag.New(BadValue, "-data "+filepath.Base(f.Value)+": which array is it?").
				WithHint("write NAME=FILE.npy with the name of an input, " + namesText(l.inputNames()) + ", or of the target; a table, FILE.csv, stands alone"))
		}
	}
	if err := errs.Err(); err != nil {
		return nil, nil, err
	}
	return l.ordered(have, from, order)
}

// archived reads one array of an archive.
func archived(path, name string) (*array.Array, error) {
	a, err := npy.OpenArchive(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	x, err := a.Get(name)
	if err != nil {
		return nil, err
	}
	return array.Clone(x), nil
}

// ordered puts named arrays into the order of the batch.
func (l *learner) ordered(have map[string]*array.Array, from map[string]string, order []string) (list []*array.Array, names []string, err error) {
	var errs diag.List
	used := map[string]bool{}
	take := func(name, what string) {
		list, names = append(list, have[name]), append(names, what+" "+diag.Name(name)+" ("+from[name]+")")
		used[name] = true
	}
	inputs := l.gm.Graph.Inputs()
	for i, n := range inputs {
		name := n.Target()
		if have[name] == nil && len(l.src.Inputs) == len(inputs) {
			name = l.src.Inputs[i] // the file's, which may be no name of Go
		}
		if have[name] == nil {
			errs.Add(diag.New(BadValue, "-data has nothing for the input "+diag.Name(name)+", which is "+n.Type().String()).
				WithHint(near.Hint(name, order, "name its array so, or give "+diag.Name(name)+"=FILE.npy; there are "+namesText(order))))
			continue
		}
		take(name, "input")
	}
	target := l.train.Target
	rest := slices.DeleteFunc(slices.Clone(order), func(name string) bool { return used[name] })
	switch {
	case len(errs) > 0:
	case target != "" && have[target] == nil:
		errs.Add(diag.New(BadValue, "-target "+target+": there is no array of this name").WithHint(near.Hint(target, rest, "there are "+namesText(rest))))
	case target != "":
		take(target, "target")
	case len(rest) == 1:
		take(rest[0], "target")
	case len(rest) == 0:
		errs.Add(diag.New(BadValue, "-data has no targets: every array is an input").WithHint("give NAME=FILE.npy with a name that no input has"))
	default:
		errs.Add(diag.New(BadValue, "which array has the targets: "+namesText(rest)+"?").WithHint("give -target NAME"))
	}
	return list, names, errs.Err()
}

// table reads a table: the column of the target, the last one unless -target names one, and
// the others as the rows of the only input.
func (l *learner) table(path string) ([]*array.Array, []string, error) {
	inputs := l.gm.Graph.Inputs()
	if len(inputs) != 1 {
		return nil, nil, diag.New(BadValue, "-data "+filepath.Base(path)+": a table is for one input, the model has "+namesText(l.inputNames())).
			WithHint("give an archive, FILE.npz, or NAME=FILE.npy for each input")
	}
	o := train.CSV{Label: -1, Values: !l.of.TakesClasses()}
	columns, err := firstRow(path)
	if err != nil {
		return nil, nil, err
	}
	o.Header = slices.ContainsFunc(columns, func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err != nil })
	if t := l.train.Target; t != "" {
		if o.Label = slices.Index(columns, t); !o.Header || o.Label < 0 {
			hint := "the first line has no names; the target is the last column"
			if o.Header {
				hint = near.Hint(t, columns, "the columns are "+namesText(columns))
			}
			return nil, nil, diag.New(BadValue, "-target "+t+": there is no column of this name").WithHint(hint)
		}
	}
	x, y, err := train.ReadCSVFile(path, o)
	if err != nil {
		return nil, nil, err
	}
	x = inRows(x, inputs[0].Type())
	name := filepath.Base(path)
	return []*array.Array{x, y}, []string{"input " + inputs[0].Target() + " (" + name + ")", "target (" + name + ")"}, nil
}

// firstRow returns the fields of the first line of a table.
func firstRow(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &diag.Error{Code: train.BadCSV, Msg: "the table cannot be read", Err: err}
	}
	defer f.Close()
	fields, _ := csv.NewReader(f).Read() // whose faults the reader of the table reports
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, nil
}

// inRows gives the rows of a table the sizes that an input has for an example, where these are
// numbers that fit: 64 columns are rows of f32[N,1,8,8].
func inRows(x *array.Array, t shape.Type) *array.Array {
	if !t.Ranked() || t.Rank() == 0 {
		return x
	}
	sizes := []int{x.Dim(0)}
	n := 1
	for _, d := range t.Dims().Slice()[1:] {
		size, fixed := d.Int()
		if !fixed {
			return x
		}
		sizes, n = append(sizes, size), n*size
	}
	if n != x.Dim(1) {
		return x
	}
	return array.Reshape(x, sizes...)
}
