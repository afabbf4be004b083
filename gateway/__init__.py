"""Sekisho, the checkpoint in front of a question-answering chatbot: the service."""
