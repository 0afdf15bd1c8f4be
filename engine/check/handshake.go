package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lustrum-mcp/lustrum/crawler/mcp"
	"github.com/lustrum-mcp/lustrum/engine/rubric"
)

// protectedReason is why a protected server's handshake and catalogue are not
// looked into. Reports and cards look for its first word.
const protectedReason = "protected: the server asks for credentials, and this run has none"

// phaseHandshake judges the answers of the two era probes.
func (r *run) phaseHandshake(ctx context.Context) {
	p := r.probe(ctx)
	if p.Protected {
		r.skipMissing(protectedReason, []string{PhaseHandshake})
		return
	}
	ev := of(asked(p)...)
	r.judgeEra(ctx, p, ev)
	if !opened(p) {
		r.judgeNoHandshake(ctx, p)
		return
	}
	r.judgeInitialize(p)
	r.judgeVersion(p)
	r.judgeServerInfo(p)
	r.judgeCapabilities(p)
	r.judgeDiscover(ctx, p)
	r.judgeInstructions(p)
	r.judgeSession(p)
}

func (r *run) judgeEra(ctx context.Context, p *mcp.Probe, ev span) {
	const id = "handshake.era"
	switch {
	case p.Era == mcp.EraInconsistent:
		r.warn(id, ev, "inconsistent: "+p.Why)
	case p.Era == mcp.EraNone && r.undecided(ctx, p) != "":
		r.skip(id, r.undecided(ctx, p))
	default:
		r.info(id, ev, string(p.Era)+": "+p.Why)
	}
}

// undecided says why a probe that got nowhere proves nothing, "" when it does
// prove that no handshake works. A server that leaves both requests without an
// answer has shown that it can't be used.
func (r *run) undecided(ctx context.Context, p *mcp.Probe) string {
	for _, a := range contacts(p) {
		if throttled(a) || ctx.Err() != nil || unread(a) != "" {
			return unsettled(ctx, a)
		}
	}
	for _, a := range contacts(p) {
		if host := r.elsewhere(a); host != "" {
			return fmt.Sprintf("HTTP %d to %s, another host, which is not asked: list the endpoint under that name", a.Status, quoteShort(host, 80))
		}
	}
	return ""
}

func (r *run) judgeNoHandshake(ctx context.Context, p *mcp.Probe) {
	const id = "handshake.initialize"
	if reason := r.undecided(ctx, p); reason != "" {
		r.skip(id, reason)
		r.block(PhaseHandshake, reason)
		return
	}
	decisive := p.Initialize
	if decisive == nil {
		decisive = p.Discover
	}
	observed := "initialize: " + answered(decisive)
	if p.Discover != nil && p.Discover != decisive {
		observed += "; server/discover: " + answered(p.Discover)
	}
	if e := decisive.RPCError(); e != nil && len(e.Supported()) > 0 {
		observed = fmt.Sprintf("refused, and the revisions it lists are %s: %s", strings.Join(e.Supported(), ", "), observed)
	}
	r.fail(id, rubric.Critical, of(contacts(p)...), observed)
	r.block(PhaseHandshake, "no handshake succeeds")
}

func (r *run) judgeInitialize(p *mcp.Probe) {
	const id = "handshake.initialize"
	switch {
	case p.Initiated != nil:
		observed := "initialize settles on " + quoteShort(p.Initiated.ProtocolVersion, 40)
		if odd := notifiedOddly(p.Notified); odd != "" {
			observed += "; notifications/initialized is answered " + odd + " where 202 is due"
		}
		r.pass(id, of(p.Initialize, p.Notified), observed)
	case p.Discovered != nil:
		r.pass(id, of(p.Discover), "server/discover lists "+listQuoted(p.Discovered.SupportedVersions)+"; initialize is not needed")
	default:
		r.pass(id, of(asked(p)...), "modern, by the error it gives: "+p.Why)
	}
}

func notifiedOddly(a *mcp.Answer) string {
	if a == nil || a.Status == 202 || a.Status == 0 {
		return ""
	}
	return fmt.Sprintf("HTTP %d", a.Status)
}

var dateShaped = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func (r *run) judgeVersion(p *mcp.Probe) {
	const id = "handshake.protocol_version"
	if p.Unlisted != "" {
		r.fail(id, rubric.Major, of(contacts(p)...), fmt.Sprintf("initialize answers %s, which server/discover does not list (%s)",
			quoteShort(p.Unlisted, 40), listQuoted(p.Discovered.SupportedVersions)))
		return
	}
	version, ev := r.spoken(p)
	if version == "" {
		r.skip(id, "the server named no revision")
		return
	}
	newest := mcp.Revisions[len(mcp.Revisions)-2:]
	shown := quoteShort(version, 40)
	switch {
	case slices.Contains(newest, version):
		r.pass(id, ev, shown)
	case version == mcp.V20241105:
		r.warn(id, ev, shown+" is the first revision, without authorization and annotations")
	case slices.Contains(mcp.Revisions, version):
		r.info(id, ev, shown+" is older than the two newest revisions")
	case dateShaped.MatchString(version):
		r.warn(id, ev, shown+" is not a published revision")
	default:
		r.fail(id, rubric.Major, ev, shown+" is no revision of the protocol, and the client did not offer it")
	}
}

// spoken is the newest revision that the server has shown to speak, and the
// exchanges that show it.
func (r *run) spoken(p *mcp.Probe) (string, span) {
	if p.Discovered != nil {
		for _, v := range slices.Backward(mcp.Revisions) {
			if mcp.Modern(v) && slices.Contains(p.Discovered.SupportedVersions, v) {
				return v, of(p.Discover)
			}
		}
	}
	if p.Initiated != nil {
		return p.Initiated.ProtocolVersion, of(p.Initialize)
	}
	if p.Discovered != nil && len(p.Discovered.SupportedVersions) > 0 {
		return slices.Max(p.Discovered.SupportedVersions), of(p.Discover)
	}
	for _, a := range asked(p) {
		if e := a.RPCError(); e != nil && len(e.Supported()) > 0 {
			return slices.Max(e.Supported()), of(a)
		}
	}
	return "", span{}
}

func (r *run) judgeServerInfo(p *mcp.Probe) {
	const id = "handshake.server_info"
	var info *mcp.Implementation
	ev := of(p.Initialize)
	switch {
	case p.Initiated != nil:
		if info = p.Initiated.ServerInfo; info == nil {
			info = &mcp.Implementation{}
		}
	case p.Discovered != nil && p.Discovered.ServerInfo != nil:
		info, ev = p.Discovered.ServerInfo, of(p.Discover)
	default:
		r.skip(id, "a modern server sends it with server/discover, which handshake.discover looks at")
		return
	}
	observed := fmt.Sprintf("name %s, version %s", quoteShort(info.Name, 100), quoteShort(info.Version, 60))
	switch {
	case strings.TrimSpace(info.Name) == "":
		r.fail(id, rubric.Minor, ev, "the name is missing: "+observed)
	case strings.TrimSpace(info.Version) == "":
		r.warn(id, ev, "the version is missing: "+observed)
	default:
		r.pass(id, ev, observed)
	}
}

func (r *run) judgeCapabilities(p *mcp.Probe) {
	const id = "handshake.capabilities"
	var caps map[string]json.RawMessage
	ev := of(p.Initialize)
	switch {
	case p.Discovered != nil && (p.Initiated == nil || len(p.Discovered.Capabilities) > 0):
		caps, ev = p.Discovered.Capabilities, of(p.Discover)
	case p.Initiated != nil:
		caps = p.Initiated.Capabilities
	default:
		r.skip(id, "no handshake result was seen")
		return
	}
	if len(caps) == 0 {
		r.warn(id, ev, "no capability is declared")
		return
	}
	r.pass(id, ev, strings.Join(sortedKeys(caps), ", "))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// judgeDiscover holds the result of server/discover to the schema of
// 2026-07-28. A server of older revisions owes none.
func (r *run) judgeDiscover(ctx context.Context, p *mcp.Probe) {
	const id = "handshake.discover"
	ev := of(p.Discover)
	switch {
	case p.Discover == nil:
		r.skip(id, "server/discover is not part of HTTP+SSE")
		return
	case p.Era != mcp.EraModern && p.Era != mcp.EraDual:
		r.skip(id, "the server does not speak 2026-07-28")
		return
	case unsettled(ctx, p.Discover) != "":
		r.skip(id, unsettled(ctx, p.Discover))
		return
	case p.Discover.Result() == nil:
		r.fail(id, rubric.Major, ev, "a server of 2026-07-28 must answer server/discover: "+answered(p.Discover))
		return
	}
	members, _ := mcp.Object(p.Discover.Result())
	var wrong []string
	if _, ok := jsonStrings(members["supportedVersions"]); !ok {
		wrong = append(wrong, "supportedVersions is "+shown(members["supportedVersions"]))
	}
	if _, ok := mcp.Object(members["capabilities"]); !ok {
		wrong = append(wrong, "capabilities is "+shown(members["capabilities"]))
	}
	if !wholeNumber(members["ttlMs"]) {
		wrong = append(wrong, "ttlMs is "+shown(members["ttlMs"]))
	}
	if s := string(members["cacheScope"]); s != `"public"` && s != `"private"` {
		wrong = append(wrong, "cacheScope is "+shown(members["cacheScope"]))
	}
	meta, _ := mcp.Object(members["_meta"])
	_, info := mcp.Object(meta[mcp.MetaServerInfo])
	switch {
	case len(wrong) > 0:
		r.fail(id, rubric.Major, ev, strings.Join(wrong, "; "))
	case !info:
		r.fail(id, rubric.Minor, ev, "no serverInfo in _meta")
	default:
		r.pass(id, ev, "complete: "+listQuoted(p.Discovered.SupportedVersions))
	}
}

// shown words a member of an answer: missing, or a short quote.
func shown(raw json.RawMessage) string {
	if raw == nil {
		return "missing"
	}
	return clip(Quote(string(raw)), 60)
}

var integer = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})(?:\.0+)?$`)

// wholeNumber reports whether a JSON value is an integer of 0 or more.
func wholeNumber(raw json.RawMessage) bool { return integer.Match(bytes.TrimSpace(raw)) }

func jsonStrings(raw json.RawMessage) ([]string, bool) {
	var list []string
	if len(raw) == 0 || bytes.TrimSpace(raw)[0] != '[' {
		return nil, false
	}
	err := json.Unmarshal(raw, &list)
	return list, err == nil
}

func listQuoted(list []string) string {
	var parts []string
	for i, s := range list {
		if i == 6 {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		parts = append(parts, quoteShort(s, 40))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func instructionsOf(p *mcp.Probe) (string, span) {
	switch {
	case p.Discovered != nil && p.Discovered.Instructions != "":
		return p.Discovered.Instructions, of(p.Discover)
	case p.Initiated != nil:
		return p.Initiated.Instructions, of(p.Initialize)
	}
	return "", of(p.Discover)
}

func (r *run) judgeInstructions(p *mcp.Probe) {
	const id = "handshake.instructions"
	s, ev := instructionsOf(p)
	if s == "" {
		r.info(id, ev, "none")
		return
	}
	r.info(id, ev, fmt.Sprintf("%d characters: %s", utf8.RuneCountInString(s), quoteShort(s, 160)))
}

func (r *run) judgeSession(p *mcp.Probe) {
	const id = "handshake.session"
	switch {
	case p.Initiated == nil:
		r.skip(id, "initialize did not open a session: there is none in 2026-07-28")
	case p.Initiated.SessionID == "":
		r.info(id, of(p.Initialize), "stateless: no Mcp-Session-Id was issued")
	default:
		r.info(id, of(p.Initialize), fmt.Sprintf("an Mcp-Session-Id of %s was issued", count(len(p.Initiated.SessionID), "character", "characters")))
	}
}
