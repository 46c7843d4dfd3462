"""PostgreSQL as the store of episodes: the same models, tools, journal and dump as the embedded SQLite database.

One database per live episode, made from a template that holds the company; an episode is one transaction in it that is
never committed, and a call is a savepoint. Refuses to be imported without psycopg: `tb_envs.session.postgres` says so.
"""
