package plot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlotKeepsToTheAxes(t *testing.T) {
	p := plot{top: 3, bottom: -1}
	require.Equal(t, float64(plotLeft), p.x(1e-9))
	require.Equal(t, float64(plotW-plotRight), p.x(1e9))
	require.Equal(t, float64(plotTop), p.y(1e9))
	require.Equal(t, float64(plotH-plotBottom), p.y(1e-9))
	require.Less(t, p.y(100), p.y(10), "more is higher")
}

func TestBarsKeepToTheAxis(t *testing.T) {
	require.Equal(t, float64(barLeft), barX(1e-9))
	require.Equal(t, float64(barW-barRight), barX(1e9))
	require.Less(t, barX(0.5), barX(1))
}
