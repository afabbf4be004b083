"""Where drafts come from: the production chatbot, or our own documents.

a chatbot        `upstream`     asked over its wire; its passages are where `contexts` says
our documents    `documents`    kept and searched, beside us
  judged by      `corrective`   whether they answer; where they don't, `websearch`
  answered by    `knowledge`    in sentences of their own (`quoting`), or in a model's (`writer`)
"""
