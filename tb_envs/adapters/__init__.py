"""Faces for other libraries, one small file each; each imports its library itself."""
