"""What is written down about questions in the background, in batches; the log, and how failures reach it."""
