"""Events, the bus that carries them, and the append-only ledger that keeps them."""
