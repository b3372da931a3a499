package ui

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// Colours can be read on white and on black: their contrast (WCAG 2, 1.4.3) is at least
// 3.5 on both.
func TestColoursAreLegible(t *testing.T) {
	t.Parallel()
	used := map[style]bool{}
	for _, s := range stateStyles {
		used[s] = true
	}
	for s := range used {
		if s == plain || s == dim || s == bold {
			continue // as the terminal's text
		}
		l := luminance(t, s)
		if onWhite, onBlack := 1.05/(l+0.05), (l+0.05)/0.05; onWhite < 3.5 || onBlack < 3.5 {
			t.Errorf("colour %s: contrast %.1f on white, %.1f on black", s, onWhite, onBlack)
		}
	}
}

// luminance is the relative luminance of a colour as xterm shows it.
func luminance(t *testing.T, s style) float64 {
	t.Helper()
	basic := map[style][3]float64{"31": {205, 0, 0}, "32": {0, 205, 0}, "33": {205, 205, 0}, "36": {0, 205, 205}}
	rgb, ok := basic[s]
	if !ok { // of the cube of 256 colours
		n, err := strconv.Atoi(strings.TrimPrefix(string(s), "38;5;"))
		if err != nil || n < 16 || n > 231 {
			t.Fatalf("colour %q", s)
		}
		levels := []float64{0, 95, 135, 175, 215, 255}
		rgb = [3]float64{levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]}
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := rgb[i] / 255
		if v <= 0.03928 {
			sum += weight * v / 12.92
		} else {
			sum += weight * math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return sum
}
