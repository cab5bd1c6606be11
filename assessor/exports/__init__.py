"""Files out: what can be exported, made at once or in the background, with a manifest; frozen conditions; releases."""
