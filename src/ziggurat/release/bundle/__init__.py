"""What leaves and what stays, in two signed parts: written whole or not at all, and verified offline."""

from ziggurat.release.bundle._contents import Contents
from ziggurat.release.bundle._held import HELD, HeldBundle
from ziggurat.release.bundle._keys import ReleaseKey, release_key, rotate_release_key
from ziggurat.release.bundle._verified import BundleProblem, BundleVerification
from ziggurat.release.bundle._verifying import verify_bundle
from ziggurat.release.bundle._writing import bundle_files, hand_out, require_new, write_bundle

__all__ = [
    "HELD",
    "BundleProblem",
    "BundleVerification",
    "Contents",
    "HeldBundle",
    "ReleaseKey",
    "bundle_files",
    "hand_out",
    "release_key",
    "require_new",
    "rotate_release_key",
    "verify_bundle",
    "write_bundle",
]
