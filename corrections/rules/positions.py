"""Where a thing falls between 0 and 1, the same in every process, for samples (contract 17.6, 18.3)."""

from hashlib import sha256


def position(seed: str, thing_id: str) -> float:
    digest = sha256(f"{seed}:{thing_id}".encode()).hexdigest()
    return int(digest[:8], 16) / 2**32
