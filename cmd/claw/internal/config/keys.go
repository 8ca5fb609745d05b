package config

import (
	"strconv"
	"strings"
)

// KeyDoc describes one key for the manual page claw.toml.5.
type KeyDoc struct {
	Key     string // full, with NAME and ID where a person chooses
	Type    string // "whole number", "size", "list of strings", …
	Default string // in TOML; "" when the key has no value by itself
	Range   string // "10 to 120000, clamped"; may be empty
	Help    string // one or two sentences
}

// Keys lists the whole schema in the order of the manual.
func Keys() []KeyDoc {
	c := defaults()
	agent, channel, account := defaultAgent(), defaultChannel(), Account{Heartbeat: defaultVisibility()}
	auto := NewAutomation()
	docs := describe(c, rootFields, "")
	mapping := newMapping("")
	docs = append(docs, describe(&mapping, mappingFields, "hooks.mappings.NAME.")...)
	docs = append(docs, describe(&auto, automationFields, "automation.")...)
	docs = append(docs, describe(&agent, agentFields, "agents.NAME.")...)
	docs = append(docs, describe(&c.Channels, channelDefaultFields, "channels.defaults.")...)
	docs = append(docs, describe(&channel, channelFields, "channels.NAME.")...)
	return append(docs, describe(&account, accountFields, "channels.NAME.accounts.ID.")...)
}

func describe[T any](v *T, fields []field[T], prefix string) (docs []KeyDoc) {
	for i := range fields {
		f := &fields[i]
		_, text := f.show(f.at(v))
		docs = append(docs, KeyDoc{
			Key: prefix + f.name, Type: f.kind.String(), Default: text, Range: f.limits(), Help: f.help,
		})
	}
	return docs
}

// String names a kind for the manual.
func (k kind) String() string {
	switch k {
	case whole:
		return "whole number"
	case seconds:
		return "seconds"
	case size:
		return "size"
	case boolean:
		return "true or false"
	case choices, list:
		return "list of strings"
	case wholes:
		return "list of whole numbers"
	case span:
		return "duration"
	case keep:
		return "duration or false"
	case path:
		return "path"
	case paths:
		return "list of paths"
	case every:
		return "duration"
	case clock, clockEnd:
		return "time of day"
	case argv:
		return "argv"
	case argvs:
		return "argv or list of argvs"
	case environ:
		return "table of strings"
	default:
		return "string"
	}
}

// limits describes the allowed values, for errors and the manual.
func (r rule) limits() string {
	switch r.kind {
	case whole, wholes:
		s := strconv.FormatInt(r.min, 10) + " to " + strconv.FormatInt(r.max, 10)
		if r.clamp {
			s += ", clamped"
		}
		return s
	case size:
		return exactSize(r.min) + " to " + exactSize(r.max)
	case seconds:
		return "0 or less is no limit; at most " + strconv.Itoa(timerSeconds)
	case choice, choices:
		return strings.Join(r.oneOf, ", ")
	case every:
		return "ms, s, m, h, d; a bare number is minutes; 0 is off"
	case span:
		return "ms, s, m, h, d"
	case keep:
		return "ms, s, m, h, d; false is for ever"
	case clock:
		return "00:00 to 23:59"
	case clockEnd:
		return "00:00 to 24:00"
	}
	return ""
}
