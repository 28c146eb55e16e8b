"""Logs and other symbols: generators that carry a promise, and sequences that are protected one by one."""
