"""How well the judge of faithfulness judges, and the cuts that keep its promise."""
