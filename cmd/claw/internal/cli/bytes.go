package cli

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// exactStrings reads values as they were typed. kong passes strings through
// JSON, which replaces every byte that is not UTF-8: --workdir, --env and
// --id-file would then mean something else.
func exactStrings() kong.Option {
	return kong.KindMapper(reflect.String, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token, err := ctx.Scan.PopValue("string")
		if err != nil {
			return err
		}
		target.SetString(token.String())
		return nil
	}))
}
