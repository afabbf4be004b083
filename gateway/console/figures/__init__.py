"""Parts of the dashboard: which view is looked at, its cards, its lists."""
