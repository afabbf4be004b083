"""What is written down about questions in the background, in batches; and how a failure reaches the log."""
