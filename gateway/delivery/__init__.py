"""How what people decide leaves the house: webhooks, notices, and the asker's next turn."""
