"""GRPO over `tb_envs` episodes."""
