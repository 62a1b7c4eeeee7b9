"""Facts about a machine, a build log, a binary. Used by cli and store."""
