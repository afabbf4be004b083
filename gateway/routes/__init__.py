"""The HTTP side. A route parses, calls once and renders."""
