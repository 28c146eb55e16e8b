"""`ziggurat anonymize`."""
