"""Questions made of documents: what could be asked, what is asked, and what nobody has answered yet."""
