"""Containers: a domain's server image, hardened containers that run it, a warm pool of them, and who clears them away.

`server`, `routes`, `plain_http`, `rpc` and `placed` run inside a container; the others run where the trainer does.
Nothing here touches a container, an image or a folder that does not carry this project's label.
"""
