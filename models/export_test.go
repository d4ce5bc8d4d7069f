package models

// ValueOf returns the value of a rule for u in a parameter of the given shape.
func ValueOf(r Rule, u float64, shape []int) float32 { return float32(r.value(u, r.bound(shape))) }
