package rubric

// Status is the outcome of one check.
type Status string

// Statuses. "We could not tell" is skip.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip"
	Info Status = "info"
)

// Severity weighs a fail.
type Severity string

// Severities.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
)

// Verdict is what a score is made from.
type Verdict struct {
	ID, Phase string
	Status    Status
	Severity  Severity
}

// Score is the judgement of one report under one rubric. All numbers have one
// decimal.
type Score struct {
	Rubric     string              `json:"rubric"`
	Total      float64             `json:"total"`       // 0 to 100, after caps
	Grade      string              `json:"grade"`       // A, B, C, D or F
	Caps       []string            `json:"caps"`        // why the total was capped; empty when it was not
	Coverage   float64             `json:"coverage"`    // assessed weight of the rubric's, in percent
	Bounds     [2]float64          `json:"bounds"`      // lowest and highest total that unassessed categories leave open
	ByCategory map[string]*float64 `json:"by_category"` // 0 to 100; null: not assessed
}
