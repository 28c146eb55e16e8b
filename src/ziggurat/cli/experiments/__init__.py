"""`ziggurat reproduce` and `ziggurat experiment`."""
