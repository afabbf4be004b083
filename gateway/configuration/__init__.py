"""`sekisho.yaml` and the environment read to `settings`: all that is wrong is told at once, with its line."""
