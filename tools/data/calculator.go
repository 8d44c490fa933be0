package data

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/data/internal/calc"
)

//go:embed calculator.md
var calculatorDoc string

// CalculatorIn is what to calculate.
type CalculatorIn struct {
	Expression string `json:"expression" jsonschema_description:"Expression with the operators and precedence of Python: (1.05**10 - 1) * 2500 // 3." jsonschema:"minLength=1,maxLength=10000" alias:"expr,formula,input,query,math,calculation,equation"`
	Precision  int    `json:"precision,omitempty" jsonschema_description:"Significant digits of a result that is no integer." jsonschema:"minimum=1,maximum=200,default=34" alias:"digits"`
	Scale      *int   `json:"scale,omitempty" jsonschema_description:"Digits after the point, rounded half to even; overrides precision." jsonschema:"minimum=0,maximum=1000" alias:"decimals,decimal_places,places"`
}

// CalculatorOut is the value of the expression.
type CalculatorOut struct {
	value     calc.Result
	precision int
	scaled    bool
}

// functionNames lists the functions when the manual is read.
type functionNames struct{}

func (functionNames) String() string { return strings.Join(calc.Functions(), ", ") }

func calculatorTool() tools.Tool {
	return tools.New(tools.Def[CalculatorIn, CalculatorOut]{
		Name: "calculator", Title: "Calculate", Doc: calculatorDoc, Tags: []string{"math", "arithmetic", "percent", "root", "digits"},
		Aliases: []string{"calculate", "calc"},
		Access:  tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{
			"functions": functionNames{}, "digits": calc.MaxDigits, "nesting": calc.MaxNesting, "time": calc.MaxTime,
		}},
		Examples: []tools.Example[CalculatorIn]{
			{Say: "Decimals are exact", In: CalculatorIn{Expression: "0.1 + 0.2"}, Want: "0.3"},
			{Say: "A division that is rounded down", In: CalculatorIn{Expression: "-7 // 3"}, Want: "-3"},
			{Say: "A root", In: CalculatorIn{Expression: "2**0.5", Precision: 20}, Want: "1.4142135623730950488\nrounded to 20 significant digits"},
		},
		Run: calculate,
	})
}

func calculate(ctx context.Context, in CalculatorIn) (CalculatorOut, error) {
	value, err := calc.Eval(ctx, in.Expression, calc.Options{Precision: in.Precision, Scale: in.Scale})
	if err != nil {
		return CalculatorOut{}, calculatorError(ctx, err)
	}
	return CalculatorOut{value, in.Precision, in.Scale != nil}, nil
}

// Text is the value; a second line says that it was rounded.
func (o CalculatorOut) Text() string {
	switch {
	case !o.value.Rounded:
		return o.value.Text
	case o.scaled:
		return o.value.Text + "\nrounded"
	}
	return fmt.Sprintf("%s\nrounded to %d significant digits", o.value.Text, o.precision)
}

func calculatorError(ctx context.Context, err error) error {
	e, ok := errors.AsType[*calc.Error](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return tools.Errorf(tools.TooLarge, "the expression takes longer than %s", calc.MaxTime).
			WithHint("calculate it in parts, or with fewer digits")
	}
	hint := e.Hint
	if e.Name != "" && hint == "" {
		known, also := calc.Constants(), "; there are no variables: write the numbers themselves"
		if e.Call {
			known, also = calc.Functions(), ""
		}
		last := e.Name[strings.LastIndexByte(e.Name, '.')+1:] // np.sqrt
		if near := schema.Nearest(last, known); near != "" {
			hint = "did you mean " + near
		} else {
			hint = "there are: " + strings.Join(known, ", ") + also
		}
	}
	return &tools.Error{Code: tools.InvalidArgument, Msg: tools.Visible(e.Msg), Hint: hint}
}
