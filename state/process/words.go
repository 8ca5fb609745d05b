package process

import "strings"

// The words slugs are made of: claw's own, of the sea and what lives by it.
// Each list is one string that is searched when a slug is made, so that
// starting claw costs nothing for it. The order of the first words is part of
// the test vectors (amber-atlas); the rest is alphabetical.
const adjectives = "amber azure brave breezy briny calm clear coastal coral crimson deep drifting dusky early easterly " +
	"foggy gentle glassy golden hidden indigo jade keen lucid mellow misty northern open pearly polar " +
	"quiet russet salty sandy silver southern steady sunlit swift tidal tide warm"

const nouns = "atlas anchor atoll bay beacon breaker buoy cape channel cliff cove crest current dolphin dune eddy " +
	"fjord gull harbor heron horizon inlet island jetty keel kelp lagoon lantern lighthouse marlin marsh " +
	"mast meadow moon orbit otter pebble pelican pier plover reef ridge rudder sail seal shell shoal " +
	"shore spray star strait surf tern wave"

const (
	adjectiveCount = 42
	nounCount      = 54
)

// word is the i-th word of a list, from 0.
func word(list string, i int) string {
	for ; i > 0; i-- {
		list = list[strings.IndexByte(list, ' ')+1:]
	}
	w, _, _ := strings.Cut(list, " ")
	return w
}
