package passes

import (
	"github.com/gofx-dev/gofx/diag"
)

// Before says that one pass must not run after another, and why. A pass lists what it
// knows under Order, a pipeline under Options.Order.
type Before struct {
	First, Then string
	Why         string
}

// CheckOrder returns an error when a pipeline runs passes in an order that one of them
// forbids, or the pipeline itself by more.
func CheckOrder(pipeline []Pass, more ...Before) error {
	for _, p := range pipeline {
		for _, o := range p.Order {
			if err := o.check(pipeline); err != nil {
				return err
			}
		}
	}
	for _, o := range more {
		if err := o.check(pipeline); err != nil {
			return err
		}
	}
	return nil
}

func (o Before) check(pipeline []Pass) error {
	then := false
	for _, p := range pipeline {
		if p.Name == o.First && then {
			return diag.New(BadPipeline, "pass "+o.First+" runs after "+o.Then+", expected it before: "+o.Why).
				WithHint("exchange them")
		}
		then = then || p.Name == o.Then
	}
	return nil
}
