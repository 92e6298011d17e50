"""The roles and what drives them: Proposer, Verifier, Governor, runner, trainer, evaluation and
deployment."""
