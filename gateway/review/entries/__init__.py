"""Entries in people's hands: looked at before they are served, edited, read again when a source changed."""
