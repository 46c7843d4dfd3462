"""What every company has in some form, each part ready for a domain to name in its own words.

Columns and their constraints, lists and pages, comparing what callers say, people's names and addresses, the knowledge
base, scripts and the mistakes made from them, identity, what an audit reads. Refuses to know any company: no table,
tool name or rule stands here.
"""
