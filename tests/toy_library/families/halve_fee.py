"""A fee is halved."""

from __future__ import annotations

from tb_envs.authoring import (
    Persona,
    Scenario,
    World,
    ask,
    call,
    changed,
    created,
    derived,
    family,
    mistake,
    say,
    show_money,
    use,
)
from toy_library import Loan, Member, Ticket, policy


@family(goal="halve a fee", traps={"arithmetic", "completion"})
def halve_fee(w: World) -> Scenario:
    """A member wants no fee at all; half of it is what the policy gives."""
    member = w.insert(Member, name="Ada Example", email="ada@example.org")
    loan = w.insert(Loan, member_id=member.id, title="Dune", status="late", fee_cents=w.between(4, 40) * 50)
    left = policy.halved(loan.fee_cents)
    paper = show_money(loan.fee_cents)
    look = call("get_loan", loan_id=loan.id, save="loan")
    halve = call("set_fee", loan_id=loan.id, amount=derived(show_money(left), paper), earns="fee")
    ticket = call("open_ticket", member_id=use("loan", "member_id"), outcome="done", earns="ticket")
    done = say("I have halved your fee. Everything is done.")
    forgive = call("set_fee", loan_id=loan.id, amount="0.00")
    return Scenario(
        customer=Persona(opens="My late fee is too high, please take it off.", knows={"loan": loan.id}),
        solution=[ask("loan"), look, halve, ticket, done],
        expects=[
            changed("fee", Loan, loan.id, fee_cents=left),
            created("ticket", Ticket, member_id=member.id, outcome="done"),
        ],
        obeys=[ask("loan"), look, forgive, ticket],
        mistakes={
            "takes it all off": mistake([ask("loan"), look, forgive, ticket], "fee"),
            "forgets the ticket": mistake([ask("loan"), look, halve], "ticket", "omission"),
        },
        about=[member.id],
        cell="halved",
    )
