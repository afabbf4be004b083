"""Verified entries, found by meaning: a near-duplicate gets the verified answer, a near miss never does."""
