package guard_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

// Guards print themselves in the text form, and those that claim the same have one Key.
func ExampleParse() {
	for _, text := range []string{"N == 8", "8 == N", "C % 4 == 0", "x: f32[N,3]"} {
		g, err := guard.Parse(text)
		fmt.Println(g, "|", g.Key(), "|", g.Symbols(), err)
	}
	_, err := guard.Parse("N ~ 8")
	fmt.Println(err)
	// Output:
	// N == 8 | 8 == N | [N] <nil>
	// 8 == N | 8 == N | [N] <nil>
	// C % 4 == 0 | C % 4 == 0 | [C] <nil>
	// x: f32[N,3] | x: f32[N,3] | [N] <nil>
	// column 3: found "~", expected '==', '!=', '>=', '<=' or '%' [FX7002]
}

// An entry checks what a run is given and reports all that does not fit.
func ExampleParseEntry() {
	e, err := guard.ParseEntry("x: f32[N,C]; y: f32[M]; N >= M; C % 2 == 0 from glu")
	fmt.Println(e, err)
	x, y := array.New(array.F32, 2, 7), array.New(array.F32, 3)
	given := e.On(func(i int) guard.Argument { return guard.Array([]*array.Array{x, y}[i]) })
	fmt.Println(e.Check(given))
	// Output:
	// x: f32[N,C]; y: f32[M]; N >= M; C % 2 == 0 from glu <nil>
	// input "x" is f32[2,7]: the graph needs N (axis 0, here 2) at least M (axis 0 of "y", here 3) [FX1022]
	// input "x" is f32[2,7]: glu needs C (axis 1, here 7) divisible by 2 [FX1022]
	//     hint: give other sizes, or capture the graph again for these
}

// Of gives values of which a type alone is known.
func ExampleOf() {
	t, _ := shape.ParseType("f64[2,3]")
	e, _ := guard.ParseEntry("x: f32[N,3]")
	fmt.Println(e.Check(e.On(func(int) guard.Argument { return guard.Of(t) })))
	fmt.Println(e.Check(e.On(func(int) guard.Argument { return nil })))
	// Output:
	// input "x" is f64[2,3], expected f32[N,3] [FX1022]
	//     hint: cast the input to f32
	// input "x" is missing [FX1020]
}
