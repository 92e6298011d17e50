"""The embedded model: a Proposer without a language model. It composes programs from moves, and learns
what to choose."""
