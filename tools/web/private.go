package web

import (
	"context"
	"errors"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// reaching calls read, and once more if the user then allows the private host that it was
// refused. A refusal of which the user is asked is that of the first request of a read.
func reaching[T any](ctx context.Context, e *engine, read func() (T, error)) (T, error) {
	got, err := read()
	switch again, stop := e.askPrivate(ctx, err); {
	case stop != nil:
		return got, stop
	case again:
		return read()
	}
	if no, ok := errors.AsType[*outbound.Refusal](err); ok && e.grants.Of(tools.Session(ctx)).Declined(no.Host) {
		return got, tools.AsError(err).WithHint("this was asked, and not confirmed: the client answered without asking its user, or the user declined; it is not asked again in this session")
	}
	return got, err
}

// askPrivate asks the user about the private hosts that errors of reads say were refused, and
// reports whether one of them is allowed now. A tool returns its error.
func (e *engine) askPrivate(ctx context.Context, errs ...error) (bool, error) {
	grant := e.grants.Of(tools.Session(ctx))
	var hosts []string
	for _, err := range errs {
		if no, ok := errors.AsType[*outbound.Refusal](err); ok && grant.Want(no) && !slices.Contains(hosts, no.Host) {
			hosts = append(hosts, no.Host)
		}
	}
	if err := grant.Ask(ctx, hosts); err != nil && tools.AsError(err).Code != tools.Unavailable { // else the refusal says what allows them
		return false, err
	}
	return slices.ContainsFunc(hosts, grant.Allows), nil
}
