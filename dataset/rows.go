package dataset

// The rows of the tables. The tags are the contract: column names and types
// are published, documented in every edition's README.md from doc, and change
// with the method version only. A pointer is a column that can be null; null
// is "not known" or "not given" and never the empty text.

// Endpoint is a row of endpoints: one endpoint and how it was found.
type Endpoint struct {
	ID               string   `parquet:"id" doc:"endpoint id: 16 bytes of SHA-256 over transport and URL, in base32"`
	URL              string   `parquet:"url" doc:"canonical URL"`
	Transport        string   `parquet:"transport,dict" doc:"streamable-http or sse"`
	Host             string   `parquet:"host,dict" doc:"host of the URL"`
	Operator         string   `parquet:"operator,dict" doc:"registrable domain of the host, or the host when there is none"`
	Outcome          string   `parquet:"outcome,dict" doc:"answered, protected, unreachable, not-mcp or undetermined"`
	Auth             string   `parquet:"auth,dict" doc:"how first contact was answered: open, oauth, protected or unreachable"`
	Era              *string  `parquet:"era,dict" doc:"which handshakes are answered: modern, legacy, dual, discover-only-legacy, inconsistent or none; null: not asked"`
	ProtocolVersion  *string  `parquet:"protocol_version,dict" doc:"newest dated protocol revision that the server reports; null: none"`
	ProtocolVersions []string `parquet:"protocol_versions,list" doc:"all revisions as reported, in the server's order"`
	ServerName       *string  `parquet:"server_name" doc:"what the server calls itself, unverified; null unless the outcome is answered"`
	ServerVersion    *string  `parquet:"server_version" doc:"its version, unverified; null unless the outcome is answered"`
	Tools            *int32   `parquet:"tools" doc:"tools listed; null: the catalogue could not be read"`
	Resources        *int32   `parquet:"resources" doc:"resources listed; null: the catalogue could not be read"`
	Prompts          *int32   `parquet:"prompts" doc:"prompts listed; null: the catalogue could not be read"`
	Score            *float64 `parquet:"score,dict" doc:"0 to 100 under the rubric; null: nothing was assessed"`
	Grade            *string  `parquet:"grade,dict" doc:"A, B, C, D or F; null: nothing was assessed"`
	Coverage         *float64 `parquet:"coverage,dict" doc:"assessed weight of the rubric, in percent; null: nothing was assessed"`
	ScoreLow         *float64 `parquet:"score_low,dict" doc:"lowest score that what was not assessed leaves open"`
	ScoreHigh        *float64 `parquet:"score_high,dict" doc:"highest score that what was not assessed leaves open"`
	Pass             int32    `parquet:"pass" doc:"findings that passed"`
	Warn             int32    `parquet:"warn" doc:"findings that warn"`
	Fail             int32    `parquet:"fail" doc:"findings that failed"`
	Skip             int32    `parquet:"skip" doc:"findings that could not be told"`
	Info             int32    `parquet:"info" doc:"findings that only inform"`
	BlockedPhase     *string  `parquet:"blocked_phase,dict" doc:"phase that could not go on; null: none"`
	Rubric           string   `parquet:"rubric,dict" doc:"id of the rubric; scores of two rubrics are never compared"`
	StartedAt        int64    `parquet:"started_at,timestamp(millisecond)" doc:"start of the check, UTC"`
	FinishedAt       int64    `parquet:"finished_at,timestamp(millisecond)" doc:"end of the check, UTC"`
	Statement        string   `parquet:"statement,plain" doc:"SHA-256 of the signed statement, in hex"`
}

// ListingRow is a row of listings: one remote of one registry entry, or an
// entry without one.
type ListingRow struct {
	Name        string  `parquet:"name" doc:"name in the registry"`
	Version     string  `parquet:"version" doc:"version of the entry"`
	Namespace   string  `parquet:"namespace,dict" doc:"part of the name before its slash"`
	Status      string  `parquet:"status,dict" doc:"status in the registry"`
	Transport   *string `parquet:"transport,dict" doc:"transport as listed; null: the entry has no remote"`
	URL         *string `parquet:"url" doc:"URL as listed; null: the entry has no remote"`
	EndpointID  *string `parquet:"endpoint_id" doc:"id in endpoints, which has no row for it when it is not in this edition; null: left out"`
	Reason      *string `parquet:"reason,dict" doc:"why it was left out; null: it is a target"`
	Repository  *string `parquet:"repository" doc:"source repository as listed; null: none given"`
	Title       *string `parquet:"title" doc:"title as listed; null: none given"`
	Description *string `parquet:"description" doc:"description as listed; null: none given"`
}

// Check is a row of checks: one check of one endpoint, at its worst outcome.
type Check struct {
	EndpointID string  `parquet:"endpoint_id,dict" doc:"id in endpoints"`
	Check      string  `parquet:"check_id,dict" doc:"id of the check"`
	Phase      string  `parquet:"phase,dict" doc:"phase that the check belongs to"`
	Status     string  `parquet:"status,dict" doc:"worst outcome of its findings: fail before warn, pass, info and skip"`
	Severity   *string `parquet:"severity,dict" doc:"critical, major or minor of the worst fail; null: it did not fail"`
	Findings   int32   `parquet:"findings" doc:"findings of this check, all outcomes"`
}

// Tool is a row of tools: one tool as an endpoint lists it. Hints are what the
// server says, unverified; null is absent or null.
type Tool struct {
	EndpointID  string  `parquet:"endpoint_id,dict" doc:"id in endpoints"`
	Name        string  `parquet:"name" doc:"name of the tool"`
	Position    int32   `parquet:"position" doc:"place in the list, from 0"`
	ReadOnly    *bool   `parquet:"read_only" doc:"readOnlyHint as given; null: absent or null"`
	Destructive *bool   `parquet:"destructive" doc:"destructiveHint as given; null: absent or null"`
	Idempotent  *bool   `parquet:"idempotent" doc:"idempotentHint as given; null: absent or null"`
	OpenWorld   *bool   `parquet:"open_world" doc:"openWorldHint as given; null: absent or null"`
	Definition  string  `parquet:"definition,plain" doc:"SHA-256 of the tool's canonical JSON, in hex"`
	Description *string `parquet:"description,plain" doc:"SHA-256 of the description, in hex; null: there is none"`
}
