"""`ziggurat synthesize`."""
