package plan

import (
	"errors"
	"reflect"

	"github.com/gofx-dev/gofx/kernel"
)

// Instance returns the step's kernel for one run at a time, and where each of its
// Sizes is stored: a copy when there are some, so that runs with different sizes
// do not meet, else the kernel itself.
func (s *Step) Instance() (k kernel.Step, fields []*int, err error) {
	if len(s.Sizes) == 0 {
		return s.Kernel, nil, nil
	}
	src := reflect.ValueOf(s.Kernel)
	if src.Kind() != reflect.Pointer || src.Elem().Kind() != reflect.Struct {
		return nil, nil, errors.New("the kernel is not a pointer to a struct")
	}
	dst := reflect.New(src.Type().Elem())
	dst.Elem().Set(src.Elem())
	owned := map[uintptr]bool{}
	fields = make([]*int, len(s.Sizes))
	for i, f := range s.Sizes {
		v, ok := f.Path.Walk(dst.Elem(), func(part reflect.Value, _ int) {
			// Lists on the way are copied, once, so that they are not shared with the plan.
			if part.Kind() == reflect.Slice && !owned[part.Pointer()] {
				c := reflect.MakeSlice(part.Type(), part.Len(), part.Len())
				reflect.Copy(c, part)
				part.Set(c)
				owned[part.Pointer()] = true
			}
		})
		if !ok {
			return nil, nil, errors.New("the kernel has no field for the size " + f.Size.String())
		}
		fields[i] = v.Addr().Interface().(*int)
	}
	return dst.Interface().(kernel.Step), fields, nil
}
