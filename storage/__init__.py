"""The two stores: SQL, which is the truth, and vectors, which can always be rebuilt from it."""
