"""What holds in every lawful state of the company's records: name → a select that must return no row."""

LAWS: dict[str, str] = {
    "rooms of a night add up": """
        SELECT id FROM inventory_nights WHERE rooms <> free + sold + blocked OR free < 0 OR sold < 0 OR blocked < 0
    """,
    "sold rooms cover the bookings": """
        SELECT i.id FROM inventory_nights i
        JOIN (
            SELECT b.property_id, b.room_type_id, n.night, COUNT(*) AS rooms
            FROM booking_nights n JOIN bookings b ON b.id = n.booking_id
            WHERE n.status = 'booked' AND b.status IN ('confirmed', 'in_house', 'checked_out', 'no_show')
            GROUP BY b.property_id, b.room_type_id, n.night
        ) taken ON taken.property_id = i.property_id AND taken.room_type_id = i.room_type_id AND taken.night = i.night
        WHERE i.sold < taken.rooms
    """,
    "blocked rooms cover the groups": """
        SELECT i.id FROM inventory_nights i
        JOIN group_blocks g ON g.property_id = i.property_id AND g.room_type_id = i.room_type_id
            AND i.night >= g.arrival AND i.night < g.departure
        GROUP BY i.id, i.blocked HAVING i.blocked < SUM(g.held)
    """,
    "a booking's total is the sum of its booked nights": """
        SELECT b.id FROM bookings b LEFT JOIN booking_nights n ON n.booking_id = b.id AND n.status = 'booked'
        WHERE b.status IN ('confirmed', 'in_house', 'checked_out', 'no_show')
        GROUP BY b.id, b.total_cents HAVING b.total_cents <> COALESCE(SUM(n.price_cents), 0)
    """,
    "a booking holds its nights from arrival to departure and no others": """
        SELECT b.id FROM bookings b JOIN booking_nights n ON n.booking_id = b.id AND n.status = 'booked'
        WHERE n.night < b.arrival OR n.night >= b.departure
            OR b.status NOT IN ('confirmed', 'in_house', 'checked_out', 'no_show')
    """,
    "a loyalty balance is the sum of its posted entries": """
        SELECT a.id FROM loyalty_accounts a
        LEFT JOIN loyalty_entries e ON e.loyalty_account_id = a.id AND e.status = 'posted'
        GROUP BY a.id, a.nights, a.points
        HAVING a.nights <> COALESCE(SUM(e.nights), 0) OR a.points <> COALESCE(SUM(e.points), 0)
    """,
    "no more is refunded than was captured": """
        SELECT p.id FROM payments p JOIN refunds r ON r.payment_id = p.id
        GROUP BY p.id, p.amount_cents, p.status HAVING SUM(r.amount_cents) > p.amount_cents OR p.status <> 'captured'
    """,
    "an entry belongs to the guest of its booking": """
        SELECT e.id FROM loyalty_entries e JOIN loyalty_accounts a ON a.id = e.loyalty_account_id
        JOIN bookings b ON b.id = e.booking_id WHERE b.guest_id <> a.guest_id
    """,
    "what is over is not pending": """
        SELECT e.id FROM loyalty_entries e JOIN bookings b ON b.id = e.booking_id
        WHERE e.status = 'pending' AND b.status NOT IN ('confirmed', 'in_house', 'relocated')
    """,
    "a ticket's remarks are about its guest": """
        SELECT c.id FROM ticket_comments c JOIN tickets t ON t.id = c.ticket_id WHERE c.guest_id <> t.guest_id
    """,
    "a room is of its booking's house": """
        SELECT b.id FROM bookings b JOIN rooms r ON r.id = b.room_id
        WHERE b.status IN ('confirmed', 'in_house', 'checked_out')
            AND (r.property_id <> b.property_id OR r.room_type_id <> b.room_type_id)
    """,
}
