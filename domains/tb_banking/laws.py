"""What holds in every lawful state of the bank's records: name → a select that must return no row."""


def _booked(kind: str, sign: str, made: str) -> str:
    """Accounts where entries of a kind are not, one for one and cent for cent, what another table says.

    `made` selects account and amount of each thing that must have its entry.
    """
    return f"""
        SELECT account_id FROM (
            SELECT account_id, {sign}amount_cents AS cents, 1 AS things FROM entries WHERE kind = '{kind}'
            UNION ALL SELECT account_id, -cents, -1 FROM ({made})
        ) GROUP BY account_id HAVING SUM(cents) <> 0 OR SUM(things) <> 0
    """


LAWS: dict[str, str] = {
    "a balance is its opening and its posted entries": """
        SELECT b.id FROM balances b LEFT JOIN entries e ON e.account_id = b.id AND e.status = 'posted'
        GROUP BY b.id, b.opening_cents, b.booked_cents
        HAVING b.booked_cents <> b.opening_cents + COALESCE(SUM(e.amount_cents), 0)
    """,
    "what is held is the sum of the active holds": """
        SELECT b.id FROM balances b LEFT JOIN holds h ON h.account_id = b.id AND h.status = 'active'
        GROUP BY b.id, b.held_cents HAVING b.held_cents <> COALESCE(SUM(h.amount_cents), 0)
    """,
    "an account has a balance": """
        SELECT a.id FROM accounts a LEFT JOIN balances b ON b.id = a.id WHERE b.id IS NULL
    """,
    "a closed account has no money and no card in use": """
        SELECT a.id FROM accounts a JOIN balances b ON b.id = a.id
        WHERE a.status = 'closed' AND (b.booked_cents <> 0 OR b.held_cents <> 0 OR EXISTS (
            SELECT 1 FROM cards c WHERE c.account_id = a.id AND c.status IN ('active', 'frozen')))
    """,
    "money leaves with a minus and comes with a plus": """
        SELECT id FROM entries
        WHERE (amount_cents < 0) <> (kind IN
            ('card_payment', 'cash', 'transfer_out', 'fee', 'credit_taken_back', 'returned'))
    """,
    "a card payment names a merchant and a card of its account": """
        SELECT e.id FROM entries e LEFT JOIN cards c ON c.id = e.card_id
        WHERE e.kind = 'card_payment' AND (e.merchant_id IS NULL OR c.account_id IS NOT e.account_id)
    """,
    "a fee has its entry": _booked("fee", "-", "SELECT account_id, amount_cents AS cents FROM fees"),
    "a fee that was returned has the entry of that": _booked(
        "fee_reversal", "", "SELECT account_id, reversed_cents AS cents FROM fees WHERE reversed_cents > 0"
    ),
    "no more of a fee is returned than was charged, and always for a reason": """
        SELECT id FROM fees WHERE reversed_cents > amount_cents
            OR (reversed_cents > 0) <> (reverse_reason IS NOT NULL)
            OR (reversed_cents > 0) <> (reversed_at IS NOT NULL)
    """,
    "a payment has one live dispute at most": """
        SELECT entry_id FROM disputes WHERE stage IN ('filed', 'contested', 'escalated')
        GROUP BY entry_id HAVING COUNT(*) > 1
    """,
    "a dispute is about a card payment of its account": """
        SELECT d.id FROM disputes d JOIN entries e ON e.id = d.entry_id
        WHERE e.kind <> 'card_payment' OR e.account_id <> d.account_id
    """,
    "a dispute that is over has the day of its end": """
        SELECT id FROM disputes WHERE (stage IN ('won', 'lost', 'withdrawn')) <> (settled_on IS NOT NULL)
    """,
    "a provisional credit is the whole payment, and ends with a dispute that failed": """
        SELECT d.id FROM disputes d JOIN entries e ON e.id = d.entry_id
        WHERE d.credit_cents <> CASE d.credit WHEN 'none' THEN 0 ELSE -e.amount_cents END
            OR (d.credit <> 'none' AND (d.credit = 'taken_back') <> (d.stage IN ('lost', 'withdrawn')))
    """,
    "a provisional credit has its entry": _booked(
        "provisional_credit", "", "SELECT account_id, credit_cents AS cents FROM disputes WHERE credit <> 'none'"
    ),
    "a credit that was taken back has the entry of that": _booked(
        "credit_taken_back",
        "-",
        "SELECT account_id, credit_cents AS cents FROM disputes WHERE credit = 'taken_back'",
    ),
    "a replaced card has one successor, and only a replaced card has one": """
        SELECT c.id FROM cards c LEFT JOIN cards n ON n.replaces = c.id
        GROUP BY c.id, c.status, c.replace_reason
        HAVING COUNT(n.id) <> (c.status = 'replaced') OR (c.status = 'replaced') <> (c.replace_reason IS NOT NULL)
    """,
    "a new card is for the same person and account": """
        SELECT n.id FROM cards n JOIN cards c ON c.id = n.replaces
        WHERE n.account_id <> c.account_id OR n.customer_id <> c.customer_id
    """,
    "a frozen card says since when and why, an active one does not": """
        SELECT id FROM cards WHERE (status = 'frozen' AND (frozen_at IS NULL OR freeze_reason IS NULL))
            OR (status = 'active' AND (frozen_at IS NOT NULL OR freeze_reason IS NOT NULL))
    """,
    "an alert is about a payment of its card and account": """
        SELECT a.id FROM alerts a JOIN entries e ON e.id = a.entry_id
        WHERE e.card_id IS NOT a.card_id OR e.account_id <> a.account_id
    """,
    "a limit is named after its account and kind": """
        SELECT id FROM limits WHERE id <> account_id || '.' || kind
    """,
    "a passcode goes to a device of its customer": """
        SELECT p.id FROM passcodes p JOIN devices d ON d.id = p.device_id WHERE d.customer_id <> p.customer_id
    """,
    "nobody has a mandate for an account of their own": """
        SELECT m.id FROM mandates m JOIN accounts a ON a.id = m.account_id WHERE m.holder_id = a.customer_id
    """,
    "guardians act on youth accounts": """
        SELECT m.id FROM mandates m JOIN accounts a ON a.id = m.account_id
        WHERE m.role = 'guardian' AND a.kind <> 'youth'
    """,
    "only a recalled transfer comes back, once and whole": """
        SELECT e.account_id FROM entries e WHERE e.kind = 'recall' GROUP BY e.account_id, e.amount_cents
        HAVING COUNT(*) > (
            SELECT COUNT(*) FROM transfers t
            WHERE t.account_id = e.account_id AND t.status = 'recalled' AND t.amount_cents = e.amount_cents)
    """,
    "a payment is sent back once, whole, and from where it came in": """
        SELECT r.id FROM returns r JOIN entries e ON e.id = r.entry_id
        WHERE e.kind <> 'transfer_in' OR e.amount_cents <> r.amount_cents OR e.account_id <> r.account_id
    """,
    "a payment that was sent back has the entry of that": _booked(
        "returned", "-", "SELECT account_id, amount_cents AS cents FROM returns"
    ),
    "a deposit that is over was paid out once, less no more than its penalty": """
        SELECT account_id FROM (
            SELECT account_id, amount_cents AS cents, 1 AS things FROM entries WHERE kind = 'deposit_payout'
            UNION ALL SELECT account_id, COALESCE(penalty_cents, 0) - principal_cents, -1
            FROM deposits WHERE status <> 'active'
        ) GROUP BY account_id HAVING SUM(cents) < 0 OR SUM(things) <> 0
    """,
    "a broken deposit has a penalty, and no other": """
        SELECT id FROM deposits WHERE (status = 'broken') <> (penalty_cents IS NOT NULL)
    """,
    "compensation has its entry": _booked(
        "compensation", "", "SELECT account_id, amount_cents AS cents FROM compensations"
    ),
    "compensation goes to the account it is due to": """
        SELECT c.id FROM compensations c
        LEFT JOIN complaints k ON k.id = c.complaint_id LEFT JOIN disputes d ON d.id = c.dispute_id
        WHERE COALESCE(k.account_id, d.account_id) <> c.account_id
    """,
    "the controls desk is asked once about a kind of an account": """
        SELECT account_id FROM sign_offs GROUP BY account_id, kind HAVING COUNT(*) > 1
    """,
    "a case's remarks are about its customer": """
        SELECT r.id FROM case_remarks r JOIN cases c ON c.id = r.case_id WHERE r.customer_id <> c.customer_id
    """,
}
