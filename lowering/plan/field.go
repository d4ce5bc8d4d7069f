package plan

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/kernel"
)

// Instance returns the step's kernel for one run at a time, and a setter for
// each of its Fields: a copy when there are fields, so that runs with different
// sizes do not meet, else the kernel itself.
func (s *Step) Instance() (kernel.Step, []reflect.Value, error) {
	if len(s.Fields) == 0 {
		return s.Kernel, nil, nil
	}
	src := reflect.ValueOf(s.Kernel)
	if src.Kind() != reflect.Pointer || src.Elem().Kind() != reflect.Struct {
		return nil, nil, errors.New("the kernel is not a pointer to a struct")
	}
	dst := reflect.New(src.Type().Elem())
	dst.Elem().Set(src.Elem())
	owned := map[string]bool{}
	set := make([]reflect.Value, len(s.Fields))
	for i, f := range s.Fields {
		v, err := selectField(dst.Elem(), f.Name, owned)
		if err != nil {
			return nil, nil, err
		}
		set[i] = v
	}
	return dst.Interface().(kernel.Step), set, nil
}

// Store sets an integer that Instance returned.
func Store(v reflect.Value, n int) {
	if v.CanInt() {
		v.SetInt(int64(n))
		return
	}
	v.SetUint(uint64(n))
}

// selectField walks a selector such as "Program.Consts[0].Imm". Slices on the
// way are copied once, so that they are not shared with the plan.
func selectField(v reflect.Value, path string, owned map[string]bool) (reflect.Value, error) {
	missing := errors.New("the kernel has no integer " + path)
	walked := ""
	for _, part := range strings.Split(path, ".") {
		name, index, _ := strings.Cut(part, "[")
		if v.Kind() != reflect.Struct {
			return v, missing
		}
		if v = v.FieldByName(name); !v.IsValid() || !v.CanSet() {
			return v, missing
		}
		walked += "." + name
		for index != "" {
			digits, rest, ok := strings.Cut(index, "]")
			k, err := strconv.Atoi(digits)
			if !ok || err != nil || (v.Kind() != reflect.Slice && v.Kind() != reflect.Array) || k < 0 || k >= v.Len() {
				return v, missing
			}
			if v.Kind() == reflect.Slice && !owned[walked] {
				c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(c, v)
				v.Set(c)
				owned[walked] = true
			}
			v = v.Index(k)
			walked += "[" + digits + "]"
			index = strings.TrimPrefix(rest, "[")
		}
	}
	if !v.CanInt() && !v.CanUint() {
		return v, missing
	}
	return v, nil
}
