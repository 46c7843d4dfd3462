"""The hotel's task families: one file each; what several share is in `_common`."""
