package lazy_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/testkit/sharing"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// What Cond and While return may be the memory of what they are given. A program that writes to either has the values
// that it has as Go code, in a session and captured, or a mistake that says so.
func TestRegions_share_memory(t *testing.T) {
	count, loud, unknown := 2000, 0, 0
	if nightly() {
		count = 40000
	}
	stale := func(err error) bool {
		var e *diag.Error
		return errors.As(err, &e) && (e.Code == lazy.Stale || e.Code == lazy.Unseen)
	}
	for seed := range uint64(count) {
		given := func() *tensor.Tensor { return tensor.FromSlice([]float32{0.5, -1, 2}) }
		var p sharing.Program
		x := given()
		list := p.Run(seed, x)
		want := fmt.Sprint(p.Seen, " ", sharing.Told(append(list, x)...))
		program := p.String()

		s := lazy.New(lazy.Options{Regions: true})
		var made ts
		x = given()
		var c *lazy.Captured
		err := attempt(func() {
			var err error
			c, err = s.Capture(lazy.Code{Data: ts{x}, Run: func() { made = p.Run(seed, x) }, Found: func() (list ts, all bool) {
				for _, y := range made {
					if y != x && !slices.Contains(list, y) {
						list = append(list, y)
					}
				}
				return list, true
			}})
			if err != nil {
				panic(err)
			}
		})
		s.Close()
		if err != nil {
			require.True(t, stale(err), "seed %d: %v\n%s", seed, err, program)
			loud++
		} else {
			require.Equal(t, want, fmt.Sprint(p.Seen, " ", sharing.Told(append(made, x)...)), "seed %d, captured (%s)\n%s", seed, c.Why, program)
		}

		s = lazy.New(lazy.Options{Regions: true, Synchronous: true})
		var got string
		if err := attempt(func() {
			x, list := s.In(given()), ts(nil)
			list = p.Run(seed, x)
			got = fmt.Sprint(p.Seen, " ", sharing.Told(append(list, x)...))
		}); err != nil {
			require.True(t, stale(err), "seed %d, in a session: %v\n%s", seed, err, program)
			unknown++
		} else {
			require.Equal(t, want, got, "seed %d, in a session\n%s", seed, program)
		}
		s.Close()
	}
	t.Log(count, "programs, of which", loud, "are undone, and", unknown, "are mistakes in a session")
	require.Less(t, loud, count/2)
}

func attempt(f func()) (err error) {
	defer diag.Catch(&err)
	f()
	return nil
}
