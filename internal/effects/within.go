package effects

import "go/types"

// Within adds to a set the names of a type and of those that lie in its values or that these point to, without what only
// interfaces, function values and tensors hold.
func Within(t types.Type, names map[string]bool) {
	t = types.Unalias(t)
	k := TypeName(t)
	if names[k] {
		return
	}
	names[k] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		Within(u.Elem(), names)
	case *types.Slice:
		Within(u.Elem(), names)
	case *types.Array:
		Within(u.Elem(), names)
	case *types.Chan:
		Within(u.Elem(), names)
	case *types.Map:
		Within(u.Key(), names)
		Within(u.Elem(), names)
	case *types.Struct:
		if isNamed(t, tensorPath, "Tensor") {
			return
		}
		for v := range u.Fields() {
			Within(v.Type(), names)
		}
	}
}
