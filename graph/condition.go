package graph

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/cayleygraph/quad"
)

// Bounds of a condition: its bytes, and the cost of deciding it once.
const (
	MaxCondition = 4096
	maxCost      = 1_000_000
)

// errAbsent ends the evaluation of a condition that asks for a field which a
// node does not have: it can't be decided.
var errAbsent = errors.New("absent field")

// condition is a CEL expression (https://cel.dev) over the nodes of a path,
// taken apart at its top-level "&&", so that each part is decided as soon as
// what it asks for is known.
type condition struct{ parts []conjunct }

type conjunct struct {
	after   int // step after which every variable is known
	program cel.Program
}

// compile holds an expression against the schema. It must yield a value of the
// given type; any type when that is nil.
func (p *plan) compile(expr string, want *cel.Type) (*condition, error) {
	if strings.TrimSpace(expr) == "" {
		return &condition{}, nil
	}
	if len(expr) > MaxCondition {
		return nil, fmt.Errorf("the condition is %d bytes long, over the bound of %d", len(expr), MaxCondition)
	}
	vars := slices.Concat(p.nodes, p.findings())
	env, err := environment(vars)
	if err != nil {
		return nil, fmt.Errorf("condition: %w", err)
	}
	parsed, issues := env.Parse(expr)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("condition %q: %s", expr, firstLine(issues))
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, fmt.Errorf("condition %q: %s", expr, explain(issues, parsed, vars))
	}
	if want != nil && !checked.OutputType().IsExactType(want) {
		return nil, fmt.Errorf("condition %q is of type %s and not %s", expr, checked.OutputType(), want)
	}
	c := &condition{}
	native := checked.NativeRep()
	parts := []ast.Expr{native.Expr()}
	if want == cel.BoolType {
		parts = conjuncts(native.Expr())
	}
	for _, e := range parts {
		part, err := cel.ExprToString(e, native.SourceInfo())
		if err != nil {
			return nil, fmt.Errorf("condition %q: %w", expr, err)
		}
		compiled, issues := env.Compile(part)
		if issues.Err() != nil {
			return nil, fmt.Errorf("condition %q: %s", expr, firstLine(issues))
		}
		program, err := env.Program(compiled, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(100))
		if err != nil {
			return nil, fmt.Errorf("condition %q: %w", expr, err)
		}
		c.parts = append(c.parts, conjunct{after: known(e, vars), program: program})
	}
	return c, nil
}

func environment(vars []variable) (*cel.Env, error) {
	provider, err := schemaTypes()
	if err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(provider), cel.CustomTypeAdapter(provider.Registry),
		cel.EnableMacroCallTracking(), cel.ParserRecursionLimit(64), cel.CrossTypeNumericComparisons(true),
	}
	for _, v := range vars {
		options = append(options, cel.Variable(v.name, cel.ObjectType(typeName(v.kind))))
	}
	return cel.NewEnv(options...)
}

// conjuncts takes an expression apart at its top-level "&&".
func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, arg := range e.AsCall().Args() {
		out = append(out, conjuncts(arg)...)
	}
	return out
}

// known is the step after which all variables of an expression are.
func known(e ast.Expr, vars []variable) int {
	after := 0
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		for _, v := range vars {
			if v.name == e.AsIdent() {
				after = max(after, v.at)
			}
		}
	}))
	return after
}

// explain says in one line what is wrong with a condition, with the nearest
// name for a misspelt one.
func explain(issues *cel.Issues, parsed *cel.Ast, vars []variable) string {
	first := issues.Errors()[0]
	var names []string
	for _, v := range vars {
		names = append(names, v.name)
	}
	if m := undeclared.FindStringSubmatch(first.Message); m != nil {
		hint := suggest(m[1], names)
		if _, ok := kindOf(m[1]); ok {
			hint = "it is not on the path, which has " + strings.Join(names, ", ")
		}
		return fmt.Sprintf("%q is unknown: %s", m[1], hint)
	}
	if m := undefinedField.FindStringSubmatch(first.Message); m != nil {
		var out string
		ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if out != "" || e.Kind() != ast.SelectKind || e.AsSelect().FieldName() != m[1] || e.AsSelect().Operand().Kind() != ast.IdentKind {
				return
			}
			i := slices.Index(names, e.AsSelect().Operand().AsIdent())
			if i < 0 {
				return
			}
			if _, ok := vars[i].kind.field(m[1]); !ok {
				out = fmt.Sprintf("%s has no field %q: %s", vars[i].kind.Name, m[1], suggest(m[1], vars[i].kind.fieldNames()))
			}
		}))
		if out != "" {
			return out
		}
	}
	return firstLine(issues)
}

var (
	undeclared     = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	undefinedField = regexp.MustCompile(`^undefined field '([^']*)'`)
)

func firstLine(issues *cel.Issues) string {
	e := issues.Errors()[0]
	return fmt.Sprintf("at column %d: %s", e.Location.Column()+1, e.Message)
}

// answer is what is known of a condition.
type answer int

const (
	yes answer = iota
	no
	undecided
)

// decide evaluates the parts that become decidable after a step.
func (c *condition) decide(ctx context.Context, after int, bound map[string]any) (answer, error) {
	out := yes
	for _, part := range c.parts {
		if part.after != after {
			continue
		}
		v, _, err := part.program.ContextEval(ctx, bound)
		switch {
		case errors.Is(err, errAbsent):
			out = undecided
		case err != nil:
			return no, fmt.Errorf("condition: %w", err)
		case v != types.True:
			return no, nil
		}
	}
	return out, nil
}

// typeProvider tells CEL the fields of the schema.
type typeProvider struct {
	*types.Registry
	fields map[string]map[string]*types.FieldType
	names  map[string][]string
}

var schemaTypes = sync.OnceValues(func() (*typeProvider, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	p := &typeProvider{Registry: registry, fields: map[string]map[string]*types.FieldType{}, names: map[string][]string{}}
	for _, k := range append(Kinds(), finding) {
		fields := map[string]*types.FieldType{}
		for _, f := range k.Fields {
			fields[f.Name] = &types.FieldType{
				Type:    map[FieldType]*types.Type{String: types.StringType, Double: types.DoubleType, Bool: types.BoolType, Timestamp: types.TimestampType}[f.Type],
				IsSet:   func(o any) bool { v, err := fieldOf(o, f); return err == nil && v != nil },
				GetFrom: func(o any) (any, error) { return fieldOf(o, f) },
			}
		}
		p.fields[typeName(k)], p.names[typeName(k)] = fields, k.fieldNames()
	}
	return p, nil
})

func typeName(k Kind) string { return "lustrum." + k.Name }

func (p *typeProvider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.fields[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Registry.FindStructType(name)
}

func (p *typeProvider) FindStructFieldNames(name string) ([]string, bool) {
	if names, ok := p.names[name]; ok {
		return names, true
	}
	return p.Registry.FindStructFieldNames(name)
}

func (p *typeProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if fields, ok := p.fields[name]; ok {
		f, ok := fields[field]
		return f, ok
	}
	return p.Registry.FindStructFieldType(name, field)
}

// object is a node (or finding) as conditions see it; its fields are read when
// the first is asked for.
type object struct {
	kind Kind
	key  string
	load func() (map[string]quad.Value, error)
}

func fieldOf(target any, f Field) (any, error) {
	o, ok := target.(*object)
	if !ok {
		return nil, fmt.Errorf("%T is no node", target)
	}
	if f.From != "" {
		return f.fromKey(o.key), nil
	}
	fields, err := o.load()
	if err != nil {
		return nil, err
	}
	switch v := fields[f.Name].(type) {
	case quad.String:
		if f.Type != Timestamp {
			return string(v), nil
		}
		if t, err := time.Parse(time.RFC3339, string(v)); err == nil {
			return t, nil
		}
	case quad.Bool:
		return bool(v), nil
	case quad.Float:
		return float64(v), nil
	}
	return nil, errAbsent
}

// object is a CEL value, so that nodes can be compared.

func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a node is no %s", t)
}
func (o *object) ConvertToType(ref.Type) ref.Val { return types.NewErr("a node has no other type") }
func (o *object) Type() ref.Type                 { return types.NewObjectType(typeName(o.kind)) }
func (o *object) Value() any                     { return o }
func (o *object) Equal(other ref.Val) ref.Val {
	b, ok := other.(*object)
	return types.Bool(ok && b.kind.Name == o.kind.Name && b.key == o.key)
}
