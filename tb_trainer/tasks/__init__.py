"""Which tasks a run trains on: probed (`probe`), chosen (`select`, `pool`), kept apart (`guard`), drawn (`source`)."""
