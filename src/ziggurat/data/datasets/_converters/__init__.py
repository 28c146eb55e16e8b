"""Pure functions from the publishers' files to tables; each takes the files' bytes by name."""
