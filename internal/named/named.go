// Package named makes a value from text such as adamw(lr=1e-3,weight_decay=0.01): a name of a
// table and fields of the entry's struct. Losses of nn and optimisers of optim are named this way on
// the command line.
package named

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
)

// Entry is a name with a struct, or a pointer to one, that holds the default settings.
type Entry[T any] struct {
	Name  string
	Value T
}

// Names lists the names of a table.
func Names[T any](table []Entry[T]) []string {
	names := make([]string, len(table))
	for i, e := range table {
		names[i] = e.Name
	}
	return names
}

// Make reads NAME or NAME(FIELD=NUMBER,...), with more settings after it, and returns a copy of the
// entry with these settings. Fields are exported floats, integers and bools; LR is lr and
// WeightDecay weight_decay. Its error, with the code, names all that is wrong; what says what the table has.
func Make[T any](code diag.Code, what, text string, table []Entry[T], more ...string) (T, error) {
	var none T
	name, rest, open := strings.Cut(strings.TrimSpace(text), "(")
	list, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if open != closed {
		return none, diag.New(code, what+" "+text+": a parenthesis is missing").WithHint("write " + strings.TrimSpace(name) + "(NAME=NUMBER,...)")
	}
	var parts []string
	if strings.TrimSpace(list) != "" {
		parts = strings.Split(list, ",")
	}
	for _, e := range table {
		if e.Name == strings.TrimSpace(name) {
			return fill(code, what+" "+e.Name, e.Value, append(parts, more...))
		}
	}
	names := Names(table)
	return none, diag.New(code, "there is no "+what+" "+strconv.Quote(strings.TrimSpace(name))).
		WithHint(near.Hint(name, names, "expected one of "+strings.Join(names, ", ")))
}

// fill returns a copy of a struct with the settings.
func fill[T any](code diag.Code, what string, value T, list []string) (T, error) {
	of := reflect.ValueOf(value)
	pointer := of.Kind() == reflect.Pointer
	if pointer {
		of = of.Elem()
	}
	p := reflect.New(of.Type())
	p.Elem().Set(of)
	fields := settable(p.Elem())
	var names []string
	for i := range p.Elem().NumField() {
		if f := snake(p.Elem().Type().Field(i).Name); fields[f].IsValid() {
			names = append(names, f)
		}
	}
	var errs diag.List
	seen := map[string]bool{}
	for _, part := range list {
		name, text, ok := strings.Cut(part, "=")
		name, text = strings.TrimSpace(name), strings.TrimSpace(text)
		field := fields[name]
		switch {
		case !ok:
			errs.Add(diag.New(code, what+": "+strconv.Quote(part)+" is no setting, expected NAME=NUMBER").WithHint("the settings are " + strings.Join(names, ", ")))
		case !field.IsValid():
			errs.Add(diag.New(code, what+" has no setting "+strconv.Quote(name)).WithHint(near.Hint(name, names, "the settings are "+strings.Join(names, ", "))))
		case seen[name]:
			errs.Add(diag.New(code, what+": "+name+" is given twice").WithHint("give each setting once"))
		case !set(field, text):
			errs.Add(diag.New(code, what+": "+name+" is "+strconv.Quote(text)+", expected "+kinds[field.Kind()]).WithHint("write " + name + "=" + examples[field.Kind()]))
		}
		seen[name] = true
	}
	if err := errs.Err(); err != nil {
		var none T
		return none, err
	}
	if pointer {
		return p.Interface().(T), nil
	}
	return p.Elem().Interface().(T), nil
}

var (
	kinds    = map[reflect.Kind]string{reflect.Float64: "a number", reflect.Int: "a whole number", reflect.Bool: "true or false"}
	examples = map[reflect.Kind]string{reflect.Float64: "0.1", reflect.Int: "1", reflect.Bool: "true"}
)

// settable returns the fields that text can set, by their names in text.
func settable(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && kinds[f.Type.Kind()] != "" {
			fields[snake(f.Name)] = v.Field(i)
		}
	}
	return fields
}

// snake writes WeightDecay as weight_decay, and what begins with several capitals as one word.
func snake(name string) string {
	var b strings.Builder
	upper := func(i int) bool { return i >= 0 && i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	for i := range len(name) {
		if upper(i) && i > 0 && !upper(i-1) {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

// set sets a field and reports whether the text is a value of its kind.
func set(field reflect.Value, text string) bool {
	switch field.Kind() {
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		field.SetFloat(v)
		return err == nil
	case reflect.Int:
		v, err := strconv.Atoi(text)
		field.SetInt(int64(v))
		return err == nil
	}
	v, err := strconv.ParseBool(text)
	field.SetBool(v)
	return err == nil
}
