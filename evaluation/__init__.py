"""Offline quality: the judges that serve, over files of cases. Every score stands beside a trivial baseline."""
