"""Which turns of a conversation would be looked up at all."""
