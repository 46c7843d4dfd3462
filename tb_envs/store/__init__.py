"""The database of one episode: seed image, fork, journal of row changes, net diff."""
