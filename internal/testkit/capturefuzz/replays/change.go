package replays

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/tensor"
)

// change changes one word of all worlds, or none.
func (j *judge) change() string {
	if j.r.IntN(2) == 0 {
		return "nothing changed"
	}
	pick, what := j.r.IntN(1<<30), ""
	for _, w := range j.worlds {
		if w == nil {
			continue
		}
		c := &changer{seen: map[reflect.Value]bool{}}
		state := struct {
			Target any
			Vars   []any
			In     []*tensor.Tensor
		}{w.Target, w.Vars, w.In}
		c.value(reflect.ValueOf(&state).Elem(), "")
		if len(c.list) > 0 {
			do := c.list[pick%len(c.list)]
			what = do.path
			do.do()
		}
	}
	return what
}

// changer lists ways to change one word that a value leads to, in the same order for worlds that are alike.
type changer struct {
	seen    map[reflect.Value]bool
	tensors []*tensor.Tensor
	list    []struct {
		path string
		do   func()
	}
}

func (c *changer) add(path string, f func()) {
	c.list = append(c.list, struct {
		path string
		do   func()
	}{path, f})
}

func (c *changer) value(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		c.pointer(v, path)
	case reflect.Interface:
		if p := v.Elem(); p.Kind() == reflect.Pointer { // of a module, or of a variable
			if x, ok := p.Interface().(*tensor.Tensor); ok {
				c.tensor(x, path, func(n *tensor.Tensor) { v.Set(reflect.ValueOf(n)) })
			} else {
				c.pointer(p, path)
			}
			return
		}
		if v.NumMethod() == 0 && v.CanSet() && (v.IsNil() || v.Elem().Kind() != reflect.Func) {
			for _, x := range []any{2, int64(1), "x", 0} {
				c.add(fmt.Sprintf("%s a %T", path, x), func() { v.Set(reflect.ValueOf(x)) })
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.value(peek.Field(v, i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.value(v.Index(i), fmt.Sprint(path, "[", i, "]"))
		}
		if v.Type().Elem().Kind() == reflect.Int {
			c.add(path+" shorter", func() { v.SetLen(v.Len() - min(v.Len(), 1)) })
			c.add(path+" clipped", func() { v.SetCap(v.Len()) })
			c.add(path+" longer", func() { v.Set(reflect.Append(v, reflect.ValueOf(1))) })
		}
	case reflect.Map:
		c.mapping(v, path)
	case reflect.Bool:
		c.add(path, func() { v.SetBool(!v.Bool()) })
	case reflect.String:
		c.add(path, func() { v.SetString(strings.Repeat("n", (v.Len()+1)%4)) })
	case reflect.Int:
		c.add(path, func() { v.SetInt((v.Int() + 1) % 4) })
	case reflect.Float64:
		c.add(path, func() { v.SetFloat(v.Float() + 0.25) })
	}
}

func (c *changer) mapping(v reflect.Value, path string) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		at := fmt.Sprint(path, "[", k, "]")
		switch x := v.MapIndex(k).Interface().(type) {
		case *tensor.Tensor:
			c.tensor(x, at, func(n *tensor.Tensor) { v.SetMapIndex(k, reflect.ValueOf(n)) })
		case int:
			c.add(at, func() { v.SetMapIndex(k, reflect.ValueOf((x+1)%4)) })
			c.add(at+" gone", func() { v.SetMapIndex(k, reflect.Value{}) })
		}
	}
}

func (c *changer) pointer(v reflect.Value, path string) {
	if x, ok := v.Interface().(*tensor.Tensor); ok {
		if x != nil {
			c.tensor(x, path, func(n *tensor.Tensor) { v.Set(reflect.ValueOf(n)) })
		}
		return
	}
	if v.IsNil() {
		return
	}
	if !c.seen[v.Elem()] {
		c.seen[v.Elem()] = true
		c.value(v.Elem(), path)
	}
	if v.CanSet() && strings.HasSuffix(v.Type().Elem().PkgPath(), "/prog") || v.CanSet() && v.Type().Elem().Kind() == reflect.Int {
		c.add(path+" copied", func() { n := reflect.New(v.Type().Elem()); n.Elem().Set(v.Elem()); v.Set(n) })
		c.add(path+" nil", func() { v.SetZero() })
	}
}

// tensor lists the changes of a tensor that lies where set puts another one.
func (c *changer) tensor(x *tensor.Tensor, path string, set func(*tensor.Tensor)) {
	c.add(path+" written", func() { raise(x) })
	if x.Rank() > 0 && x.Dim(0) > 1 {
		c.add(path+" written in part", func() { raise(x.Narrow(0, 1, 1)) })
	}
	c.add(path+" replaced", func() { set(x.Clone()) })
	for i, o := range c.tensors {
		if o != x && o.Type().Same(x.Type()) {
			c.add(fmt.Sprint(path, " is tensor ", i), func() { set(o) })
			break
		}
	}
	c.tensors = append(c.tensors, x)
}

// raise changes the elements of a tensor, unless it shows one of them several times.
func raise(x *tensor.Tensor) {
	if a, eager := x.Value().(*array.Array); eager && array.Repeats(a) {
		return
	}
	if x.DType() == array.Bool {
		x.AssignInPlace(x.LogicalNot())
		return
	}
	x.AddScalarInPlace(1)
}
