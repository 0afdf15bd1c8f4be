package rubric

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func load(t testing.TB, id string) *Rubric {
	t.Helper()
	r, err := Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func f(x float64) *float64 { return &x }

func TestScore(t *testing.T) {
	net := Verdict{"net.tcp", "net", Pass, ""}
	challenge := Verdict{"discovery.challenge", "discovery", Pass, ""}
	handshake := Verdict{"handshake.initialize", "handshake", Pass, ""}
	list := Verdict{"catalog.tools.list", "catalog", Pass, ""}
	for _, test := range []struct {
		name     string
		rubric   string
		verdicts []Verdict
		want     *Score
	}{
		{"nothing", Anonymous, nil, nil},
		{"only skips and infos", Anonymous, []Verdict{
			{"net.tls", "net", Skip, ""}, {"net.scheme", "net", Info, ""}}, nil},
		{"all four categories clean", Anonymous, []Verdict{net, challenge, handshake, list},
			// Nothing is open: total, lower and upper bound are 100.
			&Score{Anonymous, 100, "A", []string{}, 100, [2]float64{100, 100}, map[string]*float64{
				"connectivity": f(100), "authorization": f(100), "protocol": f(100), "catalog": f(100)}}},
		{"protected", Anonymous, []Verdict{net, challenge, {"handshake.initialize", "handshake", Skip, ""}},
			// Total (10*100 + 20*100)/30 = 100. Coverage 30/70 = 42.857...
			// Open: protocol 20 and catalog 20, both at 0: 3000/70 = 42.857,
			// but a critical text in the catalogue would cap at 19.9.
			&Score{Anonymous, 100, "A", []string{}, 42.9, [2]float64{19.9, 100}, map[string]*float64{
				"connectivity": f(100), "authorization": f(100), "protocol": nil, "catalog": nil}}},
		{"one of each", Anonymous, []Verdict{
			net, {"net.tls.version", "net", Warn, ""}, // 95
			{"auth.unauthenticated_tools", "auth", Fail, Major}, // 60
			handshake, {"handshake.server_info", "handshake", Fail, Minor}, // 85
			list, {"catalog.tools.names", "catalog", Warn, ""}, {"catalog.tools.unique", "catalog", Fail, Major}}, // 55
			// (10*95 + 20*60 + 20*85 + 20*55)/70 = (950+1200+1700+1100)/70 = 4950/70 = 70.714
			&Score{Anonymous, 70.7, "C", []string{}, 100, [2]float64{70.7, 70.7}, map[string]*float64{
				"connectivity": f(95), "authorization": f(60), "protocol": f(85), "catalog": f(55)}}},
		{"a check counts once, at its worst", Anonymous, []Verdict{
			{"catalog.tools.names", "catalog", Warn, ""}, {"catalog.tools.names", "catalog", Warn, ""},
			{"catalog.tools.input_schema", "catalog", Warn, ""}, {"catalog.tools.input_schema", "catalog", Fail, Major},
			{"catalog.tools.input_schema", "catalog", Fail, Minor}, {"catalog.tools.input_schema", "catalog", Pass, ""}},
			// 100 - 5 - 40 = 55; only 20 of 70 assessed: 28.571. Others at 0:
			// 20*55/70 = 15.714, under any cap that is still reachable;
			// others at 100: (1100+5000)/70 = 87.142.
			&Score{Anonymous, 55, "D", []string{}, 28.6, [2]float64{15.7, 87.1}, map[string]*float64{
				"connectivity": nil, "authorization": nil, "protocol": nil, "catalog": f(55)}}},
		{"a critical caps", Anonymous, []Verdict{net, challenge, handshake, {"auth.unauthenticated_tools", "auth", Fail, Critical}, list},
			// (1000 + 0 + 2000 + 2000)/70 = 71.4, capped.
			&Score{Anonymous, 39.9, "F", []string{"capped at 39.9 by a critical finding: auth.unauthenticated_tools"},
				100, [2]float64{39.9, 39.9}, map[string]*float64{
					"connectivity": f(100), "authorization": f(0), "protocol": f(100), "catalog": f(100)}}},
		{"poison caps lower, both caps named", Anonymous, []Verdict{net, challenge, handshake, list,
			{"catalog.text.hidden", "catalog", Fail, Critical}, {"catalog.names.confusable", "catalog", Fail, Critical}},
			&Score{Anonymous, 19.9, "F", []string{
				"capped at 39.9 by a critical finding: catalog.names.confusable, catalog.text.hidden",
				"capped at 19.9 by a critical finding: catalog.names.confusable, catalog.text.hidden"},
				100, [2]float64{19.9, 19.9}, map[string]*float64{
					"connectivity": f(100), "authorization": f(100), "protocol": f(100), "catalog": f(0)}}},
		{"net.tls caps at 19.9, net.tls.cert does not", Anonymous, []Verdict{{"net.tls.cert", "net", Fail, Critical}, challenge, handshake, list},
			// 6000/70 = 85.7, capped at 39.9 only.
			&Score{Anonymous, 39.9, "F", []string{"capped at 39.9 by a critical finding: net.tls.cert"},
				100, [2]float64{39.9, 39.9}, map[string]*float64{
					"connectivity": f(0), "authorization": f(100), "protocol": f(100), "catalog": f(100)}}},
		{"unreachable", Anonymous, []Verdict{{"net.dns", "net", Fail, Critical}},
			// Others at 100: 6000/70 = 85.7, but the cap stays.
			&Score{Anonymous, 0, "F", []string{"capped at 39.9 by a critical finding: net.dns"},
				14.3, [2]float64{0, 39.9}, map[string]*float64{
					"connectivity": f(0), "authorization": nil, "protocol": nil, "catalog": nil}}},
		{"phases of another rubric do not count", Anonymous, []Verdict{net, {"execution.tools", "execution", Fail, Critical}},
			// 10/70 = 14.2857; others at 0: 1000/70 = 14.2857.
			&Score{Anonymous, 100, "A", []string{}, 14.3, [2]float64{14.3, 100}, map[string]*float64{
				"connectivity": f(100), "authorization": nil, "protocol": nil, "catalog": nil}}},
		{"full counts them", Full, []Verdict{net, {"execution.tools", "execution", Fail, Major}},
			// (10*100 + 20*60)/30 = 73.33; coverage 30/100.
			// Open 70: at 0 2200/100 = 22.0, but 19.9 can still be reached;
			// at 100 (2200+7000)/100 = 92.
			&Score{Full, 73.3, "C", []string{}, 30, [2]float64{19.9, 92}, map[string]*float64{
				"connectivity": f(100), "authorization": nil, "protocol": nil, "catalog": nil, "execution": f(60), "performance": nil}}},
		{"a category stops at 0", Full, []Verdict{{"net.a", "net", Fail, Major}, {"net.b", "net", Fail, Major}, {"net.c", "net", Fail, Major}},
			// 100 - 120 stops at 0. Others at 100: 9000/100.
			&Score{Full, 0, "F", []string{}, 10, [2]float64{0, 90}, map[string]*float64{
				"connectivity": f(0), "authorization": nil, "protocol": nil, "catalog": nil, "execution": nil, "performance": nil}}},
		{"a fail without severity is critical", Full, []Verdict{{"net.a", "net", Fail, ""}},
			&Score{Full, 0, "F", []string{"capped at 39.9 by a critical finding: net.a"}, 10, [2]float64{0, 39.9}, map[string]*float64{
				"connectivity": f(0), "authorization": nil, "protocol": nil, "catalog": nil, "execution": nil, "performance": nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, load(t, test.rubric).Score(test.verdicts)); diff != "" {
				t.Errorf("score (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRounding(t *testing.T) {
	for _, test := range []struct {
		a, b, want int64
	}{
		{349, 4, 873},   // 87.25 is halfway: up
		{1, 3, 3},       // 0.333
		{2, 3, 7},       // 0.666
		{0, 7, 0},       // nothing
		{4950, 70, 707}, // 70.714
		{899, 10, 899},  // exact
		{1799, 20, 900}, // 89.95 is halfway: 90.0
	} {
		if got := ratioTenths(test.a, test.b); got != test.want {
			t.Errorf("%d/%d = %d tenths, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestGrades(t *testing.T) {
	r := load(t, Full)
	for tenths, want := range map[int64]string{1000: "A", 900: "A", 899: "B", 750: "B", 749: "C", 600: "C", 599: "D", 400: "D", 399: "F", 0: "F"} {
		if got := r.grade(tenths); got != want {
			t.Errorf("grade of %d tenths = %s, want %s", tenths, got, want)
		}
	}
}

func TestTrialChecksAreNeutral(t *testing.T) {
	r := *load(t, Full)
	r.Trial = []string{"net.new.*"}
	s := r.Score([]Verdict{{"net.tcp", "net", Pass, ""}, {"net.new.a", "net", Fail, Critical}})
	if s.Total != 100 || len(s.Caps) != 0 {
		t.Errorf("a check on trial changed the score: %+v", s)
	}
}

// The bounds must hold whatever the categories nobody looked into turn out to
// be, and the order and repetition of verdicts must not matter.
func TestScoreProperties(t *testing.T) {
	ids := map[string][]string{
		"net": {"net.dns", "net.tls"}, "discovery": {"discovery.prm"}, "auth": {"auth.rejects_garbage"},
		"handshake": {"handshake.initialize"}, "protocol": {"protocol.ping", "protocol.id_echo"},
		"catalog": {"catalog.tools.list", "catalog.text.hidden"}, "execution": {"execution.tools"}, "performance": {"performance.ping"},
	}
	verdict := rapid.Custom(func(t *rapid.T) Verdict {
		phase := rapid.SampledFrom([]string{"net", "discovery", "auth", "handshake", "protocol", "catalog", "execution", "performance"}).Draw(t, "phase")
		v := Verdict{Phase: phase, ID: rapid.SampledFrom(ids[phase]).Draw(t, "id"),
			Status: rapid.SampledFrom([]Status{Pass, Warn, Fail, Skip, Info}).Draw(t, "status")}
		if v.Status == Fail {
			v.Severity = rapid.SampledFrom([]Severity{Critical, Major, Minor}).Draw(t, "severity")
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		r, err := Load(rapid.SampledFrom(IDs()).Draw(t, "rubric"))
		if err != nil {
			t.Fatal(err)
		}
		some := rapid.SliceOf(verdict).Draw(t, "some")
		score := r.Score(some)
		if score == nil {
			return
		}
		shuffled := slices.Concat(rapid.Permutation(some).Draw(t, "order"), some)
		if diff := cmp.Diff(score, r.Score(shuffled)); diff != "" {
			t.Fatalf("order or repetition matters:\n%s", diff)
		}
		more := slices.Clone(some)
		for _, v := range rapid.SliceOf(verdict).Draw(t, "more") {
			for _, c := range r.Categories {
				if score.ByCategory[c.Name] == nil && slices.Contains(c.Phases, v.Phase) {
					more = append(more, v)
				}
			}
		}
		total := r.Score(more).Total
		if total < score.Bounds[0] || total > score.Bounds[1] {
			t.Fatalf("%v is outside the bounds %v", total, score.Bounds)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	good, err := files.ReadFile("full-1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"unknown key", "id: full/1", "id: full/1\nweight: 3", "not found in type"},
		{"duplicate key", "id: full/1", "id: full/1\nid: full/2", "already defined"},
		{"bare id", "id: full/1", "id: full", "name/version"},
		{"weight 0", "weight: 10", "weight: 0", "between 1 and 1000"},
		{"phase twice", "phases: [net]", "phases: [net, catalog]", "another category"},
		{"deduction over 100", "major: 40", "major: 140", "between 0 and 100"},
		{"cap with two decimals", "max: 39.9", "max: 39.95", "one decimal"},
		{"cap with a made-up severity", "severity: critical", "severity: dire", "no known severity"},
		{"grades out of order", "{grade: B, from: 75}", "{grade: B, from: 95}", "not below"},
		{"no last grade", "{grade: F, from: 0}", "{grade: F, from: 1}", "begin at 0"},
		{"two documents", "id: full/1", "id: full/1\n---\nid: full/1", ""},
		{"not YAML", "id: full/1", "id: [", "not a rubric"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(string(good), test.old, test.new, 1)
			if text == string(good) {
				t.Fatal("the replacement changed nothing")
			}
			_, err := Parse([]byte(text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	if _, err := Parse(make([]byte, MaxSize+1)); err == nil {
		t.Error("a rubric over the bound was read")
	}
	if _, err := Load("full/9"); err == nil || !strings.Contains(err.Error(), "anonymous/1, full/1") {
		t.Errorf("unknown id: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"full-1.yaml", "anonymous-1.yaml"} {
		data, err := files.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		s := r.Score([]Verdict{{"net.tcp", r.Categories[0].Phases[0], Pass, ""}})
		if s != nil && (s.Total < 0 || s.Total > 100) {
			t.Errorf("total %v", s.Total)
		}
	})
}
