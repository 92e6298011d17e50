"""Skill2Real: robot skills learned by language-model agents, verified, audited, and deployed from signed
checkpoints."""

__version__ = "0.1.0"
