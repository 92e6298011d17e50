"""The 18 public operations: their contract, perception, geometry, program sandbox, and what executes them."""
