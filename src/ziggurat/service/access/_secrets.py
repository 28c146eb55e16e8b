"""Secrets that are shown once: 256 random bits each, of which a SHA-256 is kept.

A hash without salt or effort is enough for them, because nobody can try 2^256; passwords, which people choose, go
through argon2 instead.
"""

import hashlib
import secrets

BITS = 256


def make_secret() -> str:
    """Make a secret, in letters that need no escaping anywhere."""
    return secrets.token_urlsafe(BITS // 8)


def make_name() -> str:
    """Make a name that is taken by nothing else."""
    return secrets.token_hex(8)


def digest_secret(secret: str) -> str:
    """Give what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same(kept: str, given: str) -> bool:
    """Compare two digests in a time that does not depend on where they differ."""
    return secrets.compare_digest(kept, given)
