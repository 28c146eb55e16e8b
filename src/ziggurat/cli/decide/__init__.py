"""`ziggurat decide`."""
