package heartbeat

import "claw/state/internal/digest"

func prefix256(text string) uint32 { return digest.Prefix256(text) }
