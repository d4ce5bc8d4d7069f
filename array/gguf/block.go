package gguf

import (
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
)

// kind is a type of tensors. Elements are stored in blocks of a row, the innermost axis.
type kind struct {
	name   string
	block  int // elements
	bytes  int // of a block
	dtype  array.DType
	packed *blocks.Format // nil where elements lie as in arrays
}

const q4_0 = 2

// packed is a type whose blocks are made f32.
func packed(name string) kind {
	f := blocks.Lookup(name)
	return kind{name, f.Elements, f.Bytes, array.F32, f}
}

// kinds are the types by their numbers; those without a name are not in use. Types with
// array.Invalid are known by their size alone, and refused when they are read.
var kinds = [...]kind{
	0:    {"F32", 1, 4, array.F32, nil},
	1:    {"F16", 1, 2, array.F16, nil},
	q4_0: packed("Q4_0"),
	3:    packed("Q4_1"),
	6:    packed("Q5_0"),
	7:    packed("Q5_1"),
	8:    packed("Q8_0"),
	9:    {"Q8_1", 32, 36, array.Invalid, nil},
	10:   packed("Q2_K"),
	11:   packed("Q3_K"),
	12:   packed("Q4_K"),
	13:   packed("Q5_K"),
	14:   packed("Q6_K"),
	15:   {"Q8_K", 256, 292, array.Invalid, nil},
	16:   {"IQ2_XXS", 256, 66, array.Invalid, nil},
	17:   {"IQ2_XS", 256, 74, array.Invalid, nil},
	18:   {"IQ3_XXS", 256, 98, array.Invalid, nil},
	19:   {"IQ1_S", 256, 50, array.Invalid, nil},
	20:   {"IQ4_NL", 32, 18, array.Invalid, nil},
	21:   {"IQ3_S", 256, 110, array.Invalid, nil},
	22:   {"IQ2_S", 256, 82, array.Invalid, nil},
	23:   {"IQ4_XS", 256, 136, array.Invalid, nil},
	24:   {"I8", 1, 1, array.I8, nil},
	25:   {"I16", 1, 2, array.I16, nil},
	26:   {"I32", 1, 4, array.I32, nil},
	27:   {"I64", 1, 8, array.I64, nil},
	28:   {"F64", 1, 8, array.F64, nil},
	29:   {"IQ1_M", 256, 56, array.Invalid, nil},
	30:   {"BF16", 1, 2, array.BF16, nil},
	34:   {"TQ1_0", 256, 54, array.Invalid, nil},
	35:   {"TQ2_0", 256, 66, array.Invalid, nil},
	39:   {"MXFP4", 32, 17, array.Invalid, nil},
}

// kindOf returns the type of a number, nil for unknown ones.
func kindOf(n uint32) *kind {
	if n >= uint32(len(kinds)) || kinds[n].name == "" {
		return nil
	}
	return &kinds[n]
}

// kindNames lists the types that can be read.
func kindNames() string {
	var names []string
	for _, k := range kinds {
		if k.dtype != array.Invalid {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}
