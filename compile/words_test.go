package compile_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/tensor"
)

// change is something that can be done to a world. Worlds that are alike have the same changes.
type change struct {
	path string
	do   func()
}

// changes lists what can be done to each word of a world, whether a table lists it or not.
type changes struct {
	all  []change
	ways map[reflect.Type][]reflect.Value // words that lead somewhere
	seen map[twin]bool
}

func changesOf(world any) []change {
	c := &changes{ways: map[reflect.Type][]reflect.Value{}, seen: map[twin]bool{}}
	c.value(reflect.ValueOf(world).Elem(), "")
	for _, t := range slices.SortedFunc(mapKeys(c.ways), func(a, b reflect.Type) int { return cmp.Compare(a.String(), b.String()) }) {
		for i, v := range c.ways[t] { // one value twice
			w := c.ways[t][(i+1)%len(c.ways[t])]
			c.add("alias "+t.String(), func() { v.Set(w) })
		}
	}
	c.add("counter", func() { counter++ })
	c.add("gain", func() { gain++ })
	return c.all
}

func mapKeys(m map[reflect.Type][]reflect.Value) func(func(reflect.Type) bool) {
	return func(yield func(reflect.Type) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (c *changes) add(path string, do func()) { c.all = append(c.all, change{path, do}) }

func (c *changes) value(v reflect.Value, path string) {
	switch {
	case v.Kind() == reflect.Bool:
		c.add(path, func() { v.SetBool(!v.Bool()) })
	case v.CanInt():
		c.add(path, func() { v.SetInt(v.Int() + 1) })
	case v.CanUint():
		c.add(path, func() { v.SetUint(v.Uint() + 1) })
	case v.CanFloat():
		c.add(path, func() { v.SetFloat(v.Float() + 0.5) })
		c.add(path+" sign", func() { v.SetFloat(-v.Float()) })
	case v.CanComplex():
		c.add(path, func() { v.SetComplex(v.Complex() + 1i) })
	}
	switch v.Kind() {
	case reflect.String:
		c.add(path, func() { v.SetString(v.String() + "x") })
	case reflect.Struct:
		for i := range v.NumField() {
			c.value(peek.Field(v, i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i), fmt.Sprint(path, "[", i, "]"))
		}
	case reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Map, reflect.Func:
		if v.IsNil() {
			return
		}
		c.ways[v.Type()] = append(c.ways[v.Type()], v)
		c.add(path+" = nil", func() { v.SetZero() })
		c.way(v, path)
	}
}

// way changes a word that leads somewhere, and what it leads to.
func (c *changes) way(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if x, ok := v.Interface().(*tensor.Tensor); ok {
			c.tensor(v, x, path)
			return
		}
		c.add("copy of "+path, func() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(v.Elem())
			v.Set(p)
		})
		if k := (twin{v.UnsafePointer(), v.Type()}); !c.seen[k] {
			c.seen[k] = true
			c.value(v.Elem(), path)
		}
	case reflect.Slice:
		n := v.Len()
		for _, to := range []reflect.Value{v.Slice(0, n/2), v.Slice3(0, n, n), v.Slice(n/2, n)} {
			c.add("part of "+path, func() { v.Set(to) })
		}
		c.add("copy of "+path, func() { v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, n+2), v)) })
		if k := (twin{v.UnsafePointer(), v.Type()}); !c.seen[k] && v.Cap() > 0 {
			c.seen[k] = true
			for i := range v.Cap() {
				c.value(v.Slice(0, v.Cap()).Index(i), fmt.Sprint(path, "[", i, "]"))
			}
		}
	case reflect.Interface:
		in := reflect.New(v.Elem().Type()).Elem()
		in.Set(v.Elem())
		inside := &changes{ways: map[reflect.Type][]reflect.Value{}, seen: c.seen}
		inside.value(in, path)
		for _, x := range inside.all {
			c.add(x.path, func() { x.do(); v.Set(in) })
		}
	case reflect.Map:
		c.entries(v, path)
	}
}

func (c *changes) entries(v reflect.Value, path string) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		c.add(fmt.Sprint("delete ", path, "[", k, "]"), func() { v.SetMapIndex(k, reflect.Value{}) })
		in := reflect.New(v.Type().Elem()).Elem()
		in.Set(v.MapIndex(k))
		inside := &changes{ways: map[reflect.Type][]reflect.Value{}, seen: c.seen}
		inside.value(in, fmt.Sprint(path, "[", k, "]"))
		for _, x := range inside.all {
			c.add(x.path, func() { x.do(); v.SetMapIndex(k, in) })
		}
	}
	if len(keys) > 0 {
		c.add("more of "+path, func() {
			key := reflect.New(v.Type().Key()).Elem()
			v.SetMapIndex(key, v.MapIndex(keys[0]))
		})
	}
}

func (c *changes) tensor(v reflect.Value, x *tensor.Tensor, path string) {
	set := func(what string, f func() *tensor.Tensor) {
		c.add(what+" "+path, func() { v.Set(reflect.ValueOf(f())) })
	}
	set("other", func() *tensor.Tensor { return x.AddScalar(1) })
	set("copy of", func() *tensor.Tensor { return x.MulScalar(1) })
	set("view of", func() *tensor.Tensor { return x.Unsqueeze(0).Squeeze(0) })
	set("double", func() *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{x, x}, 0) })
	c.add("data of "+path, func() { x.AddScalarInPlace(1) })
	c.add("memory of "+path, func() { tensor.Data[float32](x)[0] = 7 })
	c.add("parameter "+path, func() { x.MarkParam() })
}

// try is call for functions that may panic: both do, or none.
func (j *judge[I, O]) try(path string) {
	j.t.Helper()
	n, g := counter, gain
	var plain, compiled O
	want := caughtAny(func() { j.run(&j.a, &plain) })
	after, gained := counter, gain
	counter, gain = n, g
	got := caughtAny(func() { compiled = j.f.Call(j.b) })
	require.Equal(j.t, want, got, path)
	require.Equal(j.t, after, counter, path)
	require.Equal(j.t, gained, gain, path)
	if want == "" {
		j.kept[0], j.kept[1] = append(j.kept[0], plain), append(j.kept[1], compiled)
	}
	type all struct {
		In  *I
		Out []O
	}
	require.Empty(j.t, differ(&all{&j.a, j.kept[0]}, &all{&j.b, j.kept[1]}), "%s: %s", path, text(j.t, j.f))
}

func caughtAny(f func()) (what string) {
	defer func() {
		if p := recover(); p != nil {
			what = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// everyWord changes each word between calls, alone, and then words at random.
func everyWord[I, O any](t *testing.T, table state.Table, run func(*I, *O), world func() I, o ...compile.Option) (hits int) {
	first := world()
	n := len(changesOf(&first))
	for i := range n {
		j := newJudge(t, table, run, world, o...)
		for range 2 {
			j.try("before")
		}
		if path, ok := j.change(i); ok {
			for range 2 {
				j.try(path)
			}
		}
		hits += j.f.Stats().Hits
	}
	r := rand.New(rand.NewPCG(7, 9))
	j := newJudge(t, table, run, world, o...)
	for i := range 60 {
		if i%12 == 0 {
			j.each(func(in *I) { *in = world() })
		}
		path := "again"
		if r.IntN(3) == 0 {
			path, _ = j.change(r.IntN(n))
		}
		j.try(path)
		if j.kept[0], j.kept[1] = tail(j.kept[0]), tail(j.kept[1]); r.IntN(8) == 0 {
			j.f.Close()
			j.f = compile.New(table, run, o...)
		}
	}
	return hits + j.f.Stats().Hits
}

func tail[T any](list []T) []T { return list[max(0, len(list)-3):] }

// change does the same to both worlds.
func (j *judge[I, O]) change(i int) (path string, ok bool) {
	a, b := changesOf(&j.a), changesOf(&j.b)
	require.Equal(j.t, len(a), len(b))
	if i >= len(a) {
		return "", false
	}
	n, g := counter, gain
	failed := caughtAny(a[i].do)
	counter, gain = n, g
	require.Equal(j.t, failed, caughtAny(b[i].do))
	return a[i].path, failed == ""
}
