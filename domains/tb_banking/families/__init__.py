"""The task families of the bank, one file each; `_NAME.py` holds the cases and the customer of a long one.

Other files that begin with an underscore are what families share.
"""
