"""The task families of the bank, one file each; files that begin with an underscore are what they share."""
