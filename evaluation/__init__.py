"""Offline quality: the judges that serve, over files of cases, each score beside a trivial baseline."""
