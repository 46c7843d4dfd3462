"""An agent's tool session over a store, and the log of what happened."""
