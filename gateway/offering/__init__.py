"""Did you mean: verified questions close to the asker's are offered, and the "yes" of the asker is kept."""
