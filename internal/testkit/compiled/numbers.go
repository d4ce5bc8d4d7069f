package compiled

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/tensor"
)

// Numbers and text: what becomes of fields of basic types.

func Plus(m *Model, x, y *tt) (int, *tt) { return m.Depth + 1, x.AddScalar(m.Depth + 1) }

func PlusFloat(m *Model, x, y *tt) (float64, *tt) { return m.Scale + 1, x.AddScalar(m.Scale + 1) }

func BinaryOps(m *Model, x, y *tt) ([12]int, [6]bool) {
	a, b := m.Depth+7, m.Items[0]+1
	return [12]int{a + b, a - b, a * b, a / b, a % b, a & b, a | b, a ^ b, a &^ b, a << b, a >> b, -a}, [6]bool{a == b, a != b, a < b, a <= b, a > b, a >= b}
}

func AddThree(m *Model, x, y *tt) *tt {
	return x.AddScalar(m.Depth).AddScalar(m.Items[0]).MulScalar(m.Items[1])
}

func AddThreeCall(m *Model, x, y *tt) *tt { return addThree(x, m.Depth, m.Items[0], m.Items[1]) }

func addThree(x *tt, a, b, c int) *tt { return x.AddScalar(a + b).MulScalar(c) }

func ZeroDim(m *Model, x, y *tt) *tt { return x.Sum().Add(y.Sum()).AddScalar(m.Scale).Mul(x) }

func Product(m *Model, x, y *tt) *tt {
	n := 0
	for _, a := range m.Items {
		for _, b := range m.Log {
			n += (a + 1) * (b + 1)
		}
	}
	return x.MulScalar(n)
}

func IntCache(m *Model, x, y *tt) (int, int) { return m.Depth + 1, m.Items[0] + 1 }

func NumberKinds(m *Model, x, y *tt) (*tt, *tt) {
	return x.AddScalar(1.0), y.Cast(tensorInt).AddScalar(1)
}

func FloorInt(m *Model, x, y *tt) *tt {
	return x.AddScalar(int(math.Floor(float64(m.Depth) / 2 * m.Scale)))
}

func Floats(m *Model, x, y *tt) ([]float64, *tt) {
	v := []float64{math.Sqrt(m.Scale), math.Inf(1), math.NaN(), math.Copysign(0, -1), math.Max(m.Scale, float64(m.Half))}
	return v, x.MulScalar(v[0])
}

func Bits(m *Model, x, y *tt) (int, uint64) {
	return bits.OnesCount64(m.Big) + bits.Len8(uint8(m.Kind)), m.Big<<1 ^ uint64(m.Small)
}

func Overflows(m *Model, x, y *tt) (int8, Kind) { return m.Small * 100, m.Kind - 2 }

func MinMaxOf(m *Model, x, y *tt) (int, float64) {
	return min(m.Depth, m.Items[0], len(m.Rates)), max(m.Scale, float64(m.Half), 1)
}

func Conversions(m *Model, x, y *tt) (string, *tt) {
	n, err := strconv.Atoi(strconv.Itoa(m.Depth) + "0")
	if err != nil {
		n = -1
	}
	return strconv.FormatFloat(m.Scale, 'g', 3, 64), x.AddScalar(n)
}

func Built(m *Model, x, y *tt) (string, int) {
	var b strings.Builder
	for i, name := range m.Names {
		b.WriteString(strings.Repeat(name, i+1))
		b.WriteByte('.')
	}
	return b.String(), b.Len()
}

func Joined(m *Model, x, y *tt) (string, []string) {
	path := strings.Join(m.Names, "/") + "/" + m.Name
	return fmt.Sprintf("%s:%d", path, m.Depth), strings.Split(path, "/")
}

func Runes(m *Model, x, y *tt) (int, *tt) {
	n := 0
	for i, r := range m.Name {
		n += i * int(r)
	}
	if strings.HasPrefix(m.Name, "re") {
		x = x.Relu()
	}
	return n, x
}

func Bytes(m *Model, x, y *tt) ([]byte, string) {
	b := []byte(m.Name)
	b[0] -= 'a' - 'A'
	return b, string(b[1:])
}

const (
	plain Kind = iota
	squared
	halved
)

func Consts(m *Model, x, y *tt) *tt {
	switch m.Kind {
	case squared:
		return x.Square()
	case halved:
		x = y
		fallthrough
	case plain:
		return x.MulScalar(0.5)
	default:
		return x
	}
}

func Labels(m *Model, x, y *tt) *tt {
outer:
	for i, row := range m.Grid {
		for j, v := range row {
			switch {
			case v == m.Depth:
				continue outer
			case i+j > 1:
				break outer
			}
			x = x.AddScalar(v)
		}
	}
	return x
}

// ManyConsts has more constants than an instruction of an interpreter can count.
func ManyConsts(m *Model, x, y *tt) *tt {
	for i := range 260 {
		x = x.AddScalar(float64(i))
	}
	return x.Add(y)
}

// Quantize scales by a number that is a tensor of no axes.
func Quantize(m *Model, x, y *tt) *tt {
	scale := m.W.Abs().Max().DivScalar(127)
	return x.Div(scale).Round().Clamp(-128, 127).Mul(scale)
}

func Stacked(m *Model, x, y *tt) *tt { return tensor.Stack([]*tt{x, y}, m.Depth-2) }
