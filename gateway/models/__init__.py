"""Language models over the network: one door for the chatbot, the judges, the gate and the rewriting."""
