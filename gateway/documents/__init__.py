"""The operator's own documents: read, cut, kept in SQL and in an index, and found there."""
