"""`ziggurat hierarchy`."""
