"""Where drafts come from: the production chatbot, or our own documents."""
