package site

import (
	"fmt"
	"html/template"
	"strings"
)

// bar is one row of a chart: a share with its interval, both 0 to 1.
type bar struct {
	Label, Value string
	Share        float64
	Low, High    float64
	HasShare     bool
	HasInterval  bool
	Class        string // colour of the bar; empty for the default
}

const (
	barPitch  = 50 // pixels from one row to the next
	barTop    = 24 // of the bar below its label
	barHeight = 10
)

// bars draws rows as an SVG that fits any width: lengths are in percent and
// the type keeps its size, so it is as readable on a phone as on a desk. All
// style comes from the style sheet, by class.
func bars(id, title, description string, rows []bar) template.HTML {
	var b strings.Builder
	esc := template.HTMLEscapeString
	fmt.Fprintf(&b, `<svg class="bars" width="100%%" height="%d" role="img" aria-labelledby="%s-t %s-d" focusable="false">`, len(rows)*barPitch, esc(id), esc(id))
	fmt.Fprintf(&b, `<title id="%s-t">%s</title><desc id="%s-d">%s</desc>`, esc(id), esc(title), esc(id), esc(description))
	for i, r := range rows {
		y := i * barPitch
		fmt.Fprintf(&b, `<text class="bar-label" x="0" y="%d">%s</text>`, y+15, esc(r.Label))
		fmt.Fprintf(&b, `<text class="bar-value" x="100%%" y="%d" text-anchor="end">%s</text>`, y+15, esc(r.Value))
		fmt.Fprintf(&b, `<rect class="bar-track" x="0" y="%d" width="100%%" height="%d" rx="2"/>`, y+barTop, barHeight)
		if !r.HasShare {
			continue
		}
		if w := unit(r.Share); w > 0 {
			fmt.Fprintf(&b, `<rect class="bar-fill%s" x="0" y="%d" width="%s" height="%d" rx="2"/>`, esc(r.Class), y+barTop, length(w), barHeight)
		}
		if r.HasInterval {
			mid := y + barTop + barHeight + 5
			low, high := length(unit(r.Low)), length(unit(r.High))
			fmt.Fprintf(&b, `<g class="bar-interval"><line x1="%s" x2="%s" y1="%d" y2="%d"/>`, low, high, mid, mid)
			fmt.Fprintf(&b, `<line x1="%s" x2="%s" y1="%d" y2="%d"/>`, low, low, mid-3, mid+3)
			fmt.Fprintf(&b, `<line x1="%s" x2="%s" y1="%d" y2="%d"/></g>`, high, high, mid-3, mid+3)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // every value is a number or escaped above
}

// span draws where a total stands between its bounds, all 0 to 100.
func span(total, low, high float64) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="span" width="100%%" height="22" role="img" aria-label="Score %s of 100; what was not assessed leaves it between %s and %s." focusable="false">`, points(total), points(low), points(high))
	b.WriteString(`<rect class="bar-track" x="0" y="7" width="100%" height="8" rx="2"/>`)
	fmt.Fprintf(&b, `<rect class="span-bounds" x="%s" y="7" width="%s" height="8"/>`, length(unit(low/100)), length(unit((high-low)/100)))
	at := length(unit(total / 100))
	fmt.Fprintf(&b, `<line class="span-total" x1="%s" x2="%s" y1="2" y2="20"/></svg>`, at, at)
	return template.HTML(b.String()) //nolint:gosec // numbers only
}

// meter draws one share of 100.
func meter(value float64) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="meter" width="100%%" height="8" aria-hidden="true" focusable="false"><rect class="bar-track" x="0" y="0" width="100%%" height="8" rx="2"/><rect class="bar-fill" x="0" y="0" width="%s" height="8" rx="2"/></svg>`, length(unit(value/100)))) //nolint:gosec // numbers only
}

// stack draws parts of a whole side by side, each by its class.
func stack(parts []part, label string) template.HTML {
	total := 0
	for _, p := range parts {
		total += p.Count
	}
	if total == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="stack" width="100%%" height="20" role="img" aria-label="%s" focusable="false">`, template.HTMLEscapeString(label))
	x := 0.0
	for _, p := range parts {
		w := float64(p.Count) / float64(total)
		if w > 0 {
			fmt.Fprintf(&b, `<rect class="part part-%s" x="%s" y="0" width="%s" height="20"/>`, template.HTMLEscapeString(p.Key), length(x), length(w))
		}
		x += w
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and keys escaped above
}

// part is one part of a whole.
type part struct {
	Key   string // class
	Label string
	Count int
}

func unit(x float64) float64 {
	if !(x > 0) { // NaN too
		return 0
	}
	return min(x, 1)
}

func length(x float64) string { return fmt.Sprintf("%.3f%%", x*100) }
