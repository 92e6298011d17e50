"""Language models in the three roles: what they are told, what they answer, and what of it is recorded."""
