package spec

import (
	"encoding/binary"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// NewestOpset is the newest operator set that is read and written. Operators may mean
// something else in later ones.
const NewestOpset = 28

// Domains of operators outside of ONNX's own set: classical machine learning, and ONNX
// Runtime's additions.
const (
	MLDomain  = "ai.onnx.ml"
	Microsoft = "com.microsoft"
)

// Contributed are the operators that are written although ONNX itself lacks them, with their domains.
var Contributed = map[string]string{"Inverse": Microsoft}

// DTypes maps ONNX's element types to those of arrays; other types are refused.
var DTypes = map[pb.DataType]array.DType{
	pb.Float: array.F32, pb.Double: array.F64, pb.Float16: array.F16, pb.BFloat16: array.BF16,
	pb.Int8: array.I8, pb.Uint8: array.U8, pb.Int16: array.I16, pb.Uint16: array.U16,
	pb.Int32: array.I32, pb.Uint32: array.U32, pb.Int64: array.I64, pb.Uint64: array.U64, pb.Bool: array.Bool,
	pb.Float8E4M3FN: array.F8E4M3FN, pb.Float8E4M3FNUZ: array.F8E4M3FNUZ, pb.Float8E5M2: array.F8E5M2, pb.Float8E5M2FNUZ: array.F8E5M2FNUZ,
	pb.Float8E8M0: array.F8E8M0FNU, pb.Float4E2M1: array.F4E2M1FN,
	pb.Int4: array.I4, pb.Uint4: array.U4, pb.Int2: array.I2, pb.Uint2: array.U2,
}

// LittleEndian reports whether this machine has the byte order of ONNX files.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
