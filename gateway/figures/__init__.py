"""The numbers that the owner watches, from SQL alone: what they count, of what, and which questions."""
