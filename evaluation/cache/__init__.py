"""How well verified answers are found: the near ones served, the near misses not."""
