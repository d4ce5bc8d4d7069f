package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func einsumSamples(g *op.Gen) []op.Sample {
	call := func(eq string, in ...*array.Array) op.Sample { return okCall(eq, EinsumAttrs{eq}, in...) }
	return []op.Sample{
		call("ij,jk->ik", g.Normal(3, 4), g.Normal(4, 5)),
		call("ij,jk", g.Normal(3, 4), g.Normal(4, 5)),
		call("bij,bjk->bik", g.Normal(2, 3, 4), g.Normal(2, 4, 5)),
		call("bhid, bhjd -> bhij", g.Normal(2, 3, 4, 5), g.Normal(2, 3, 6, 5)),
		call("ii", g.Normal(4, 4)),
		call("ii->i", g.Normal(4, 4)),
		call("iij->ji", g.Normal(3, 3, 2)),
		call("iii->i", g.Normal(3, 3, 3)),
		call("ij->ji", g.Normal(3, 4)),
		call("ij->", g.Normal(3, 4)),
		call("i,j->ij", g.Normal(3), g.Normal(4)),
		call("i,i->", g.Normal(5), g.Normal(5)),
		call("bi,bj->bij", g.Normal(2, 3), g.Normal(2, 4)),
		call("...ij,...jk->...ik", g.Normal(2, 1, 3, 4), g.Normal(5, 4, 6)),
		call("...i->...", g.Normal(2, 3, 4)),
		call("i...,i->...", g.Normal(4, 2, 3), g.Normal(4)),
		call("...,...", g.Normal(2, 3), g.Normal(3)),
		call("ijk,jil,kl->ij", g.Normal(2, 3, 4), g.Normal(3, 2, 5), g.Normal(4, 5)),
		call("ij,kl->jl", g.Normal(2, 3), g.Normal(4, 5)),
		call("bn,anm,bm->ba", g.Normal(2, 3), g.Normal(5, 3, 4), g.Normal(2, 4)),
		call("abc,dcb->ad", g.Normal(2, 3, 4), g.Normal(5, 4, 3)),
		call("ij,jk->ki", g.Normal(3, 1), g.Normal(4, 5)),
		call("ba", g.Normal(2, 3)),
		call("i,->i", g.Normal(3), g.Normal()),
		call("ij,ij->ij", g.Int(9, 2, 3), g.Int(9, 2, 3)),
		call("ij,jk->i", array.Cast(g.Int(9, 2, 3), array.I32), array.Cast(g.Int(9, 3, 2), array.I32)),
		call("ik,kj->ij", array.Cast(g.Normal(2, 3), array.F64), array.Cast(g.Normal(3, 2), array.F64)),
		call("ab,bc->ac", g.Strided(g.Normal(3, 4)), g.Strided(g.Normal(4, 5))),
		call("xy,yz->xz", g.Normal(0, 4), g.Normal(4, 5)),
		call("xy,yz->zx", g.Normal(3, 0), g.Normal(0, 5)),
	}
}

func einsumBad(g *op.Gen) []op.BadSample {
	bad := func(eq string, code diag.Code, in ...*array.Array) op.BadSample {
		return badCall(code, eq, EinsumAttrs{eq}, in...)
	}
	m := g.Normal(3, 4)
	return []op.BadSample{
		bad("ij,jk->ik", op.ShapeMismatch, m, m),
		bad("ii", op.ShapeMismatch, m),
		bad("...i,...i", op.ShapeMismatch, m, g.Normal(2, 4)),
		bad("ij,jk->ik", op.OperandCount, m),
		bad("ijk->i", op.RankMismatch, m),
		bad("i->i", op.RankMismatch, m),
		bad("ij->k", op.BadAttr, m),
		bad("ij->ii", op.BadAttr, m),
		bad("i1->i", op.BadAttr, m),
		bad("i..j->i", op.BadAttr, m),
		bad("ij->i->j", op.BadAttr, m),
		bad("ij,ij->", op.DTypeMismatch, m, g.Int(9, 3, 4)),
		bad("ij->j", op.DTypeMismatch, g.Bool(3, 4)),
	}
}
