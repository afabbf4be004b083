"""How long is kept what askers wrote, and how one of them is forgotten."""
