"""Simulated users: a model plays people of several tempers, another reads what they were answered."""
