package kernel

import (
	"strconv"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Turn gives memory that a call writes to one call at a time. The zero value is free.
type Turn struct{ busy atomic.Bool }

// Take begins the call's turn, or refuses it where another call has it.
func (t *Turn) Take() error {
	if t.busy.CompareAndSwap(false, true) {
		return nil
	}
	return diag.New(CodeArgument, "another call works on the state, expected one call at a time").
		WithHint("give each goroutine a State of its own")
}

// Give ends the turn that Take began.
func (t *Turn) Give() { t.busy.Store(false) }

// NoWeights is the error of a model that none of the functions made which makers lists.
func NoWeights(makers string) error {
	return diag.New(CodeWeights, "the model has no weights, expected one that "+makers+" made")
}

// NoState is the error of a call without the state that the functions make which makers lists.
func NoState(makers string) error {
	return diag.New(CodeArgument, "the state is nil, expected one that "+makers+" made")
}

// Arguments refuses a call that does not have an argument for each input.
func Arguments(in []*array.Array, inputs int) error {
	if len(in) == inputs {
		return nil
	}
	return diag.New(CodeArgument, "there are "+strconv.Itoa(len(in))+" arguments, expected "+strconv.Itoa(inputs))
}
