"""How well the gate judges, and the cuts that keep its promise."""
