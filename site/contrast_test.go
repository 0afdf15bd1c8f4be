package site

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast computes WCAG 2.2 contrast (success criteria 1.4.3 and 1.4.11,
// https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio) of every pair of colours
// that meet, in both schemes.
func TestContrast(t *testing.T) {
	raw, err := assetFiles.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, ok := strings.Cut(string(raw), "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("the style sheet has no dark scheme")
	}
	dark, _, _ := strings.Cut(rest, "*, *::before")
	schemes := map[string]map[string]string{"light": palette(light, nil), "dark": palette(dark, palette(light, nil))}
	// White on black is 21:1 by definition.
	if got := contrast("#ffffff", "#000000"); math.Abs(got-21) > 1e-9 {
		t.Fatalf("white on black is %v", got)
	}
	const words, shapes = 4.5, 3
	for _, pair := range []struct {
		least          float64
		fronts, behind string
	}{
		{words, "ink quiet link", "paper panel sunk"},
		{words, "on-grade", "a b c d f"},
		{words, "accent-ink", "accent"},
		{words, "bad-ink", "bad-bg panel"},
		{words, "warn-ink", "warn-bg"},
		{words, "good-ink", "good-bg"},
		{words, "info-ink", "info-bg"},
		{words, "paper", "bad-ink"},
		{words, "ink", "bad-bg"},
		{shapes, "edge", "panel sunk"},
		{shapes, "a b c d f", "panel"},
		{shapes, "bar", "track"},
		{shapes, "focus", "paper panel"},
	} {
		for name, colours := range schemes {
			for _, front := range strings.Fields(pair.fronts) {
				for _, behind := range strings.Fields(pair.behind) {
					if colours[front] == "" || colours[behind] == "" {
						t.Errorf("%s: %s or %s is no colour", name, front, behind)
					} else if got := contrast(colours[front], colours[behind]); got < pair.least {
						t.Errorf("%s: %s on %s is %.2f:1, want %v:1", name, front, behind, got, pair.least)
					}
				}
			}
		}
	}
}

func palette(css string, base map[string]string) map[string]string {
	all := map[string]string{}
	for k, v := range base {
		all[k] = v
	}
	for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
		all[m[1]] = m[2]
	}
	return all
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return math.NaN()
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
