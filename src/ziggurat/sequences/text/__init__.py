"""Headlines: networks that write them, with and without a promise."""
