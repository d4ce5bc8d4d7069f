package ort

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestTypes(t *testing.T) {
	for d := range typeNames {
		back, ok := ParseType(TypeName(d))
		require.True(t, ok)
		require.Equal(t, d, back)
	}
	require.Empty(t, TypeName(array.BF16))
	_, ok := ParseType("string")
	require.False(t, ok)
}

// The answers of the process, without running one.
func TestAnswers(t *testing.T) {
	ask := func(answer string) ([][]*array.Array, string, error) {
		var asked bytes.Buffer
		r := &Runtime{json.NewEncoder(&asked), bufio.NewReader(bytes.NewReader([]byte(answer)))}
		got, err := r.Run(Model{Data: []byte("m"), Plain: true}, Inputs{"x": array.FromSlice([]int8{1, 2}, 2)})
		return got, asked.String(), err
	}
	got, asked, err := ask(`{"runs":[[{"dtype":"int16","dims":[1],"data":"AQI="}]]}` + "\n")
	require.NoError(t, err)
	require.Equal(t, []int16{0x0201}, array.Data[int16](got[0][0]))
	require.Equal(t, `{"model":"bQ==","level":"disabled","runs":[{"x":{"dtype":"int8","dims":[2],"data":"AQI="}}]}`+"\n", asked)
	var refused Refusal
	_, _, err = ask(`{"error":"no"}` + "\n")
	require.ErrorAs(t, err, &refused)
	_, _, err = ask(`{"runs":[[{"dtype":"string","dims":[1]}]]}` + "\n")
	require.ErrorAs(t, err, &refused)
	for _, answer := range []string{"", "{}x\n", `{"runs":[[{"dtype":"int16","dims":[2],"data":"AQI="}]]}` + "\n"} {
		_, _, err = ask(answer)
		require.Error(t, err)
		require.NotErrorAs(t, err, &refused)
	}
}

func TestInputsThatDoNotReachIt(t *testing.T) {
	r := &Runtime{}
	_, err := r.Run(Model{}, Inputs{"x": array.New(array.BF16, 1)})
	require.ErrorContains(t, err, `"x"`)
}

// Start gives a process that answers; the request here has no model.
func TestStart(t *testing.T) {
	r := Start(t)
	_, err := r.Run(Model{Data: []byte("no model")})
	var refused Refusal
	require.ErrorAs(t, err, &refused)
	_, err = r.Run(Model{Path: "no such file"})
	require.ErrorAs(t, err, &refused, "the process goes on")
}

func TestStartOfNothing(t *testing.T) {
	_, _, err := start(exec.Command(os.DevNull))
	require.Error(t, err)
}
