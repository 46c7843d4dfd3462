"""The desk's own records: cases with their remarks, and questions to the controls desk."""

from tb_banking.models import Account, CaseRemark, Customer, ServiceCase, SignOff, SignOffRule
from tb_envs.authoring import Db, Identifier, Json, Money, Text, Toolset, require
from tb_envs.parts.views import Search, core_table, equal, table_viewer

from ._booking import require_positive
from ._kinds import Disposition, PageNumber, Queue, SignOffKind, Stage, Subject

desk = Toolset("desk", "Service cases and sign-offs.")

CASES = core_table(ServiceCase)

_case_view = table_viewer("case", ServiceCase)
_remark_view = table_viewer("remark", CaseRemark)
_sign_off_view = table_viewer("sign_off", SignOff)
_CASES = Search(
    source=CASES,
    view=_case_view,
    order=[CASES.c.opened_at.desc(), CASES.c.id.desc()],
    filters=equal(CASES, "customer_id", "stage"),
    owners={"customer_id": Customer},
)


@desk.read
def list_cases(db: Db, customer_id: Identifier, stage: Stage | None = None, page: PageNumber = 1) -> Json:
    """The service cases of a customer, newest first.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
        stage: only cases at this stage.
        page: which page of 5 cases, from 1.
    """
    return _CASES.page(db, page, customer_id=customer_id, stage=stage)


@desk.read
def get_case(db: Db, case_id: Identifier) -> Json:
    """A service case with the remarks written on it.

    Args:
        case_id: the case, e.g. `CS-80125`.
    """
    found = db.one(ServiceCase, case_id)
    return {**_case_view(found), "remarks": [_remark_view(row) for row in db.rows(CaseRemark, case_id=case_id)]}


@desk.write
def open_case(
    db: Db,
    customer_id: Identifier,
    subject: Subject,
    summary: Text,
    account_id: Identifier | None = None,
    stage: Stage = "open",
    disposition: Disposition | None = None,
    queue: Queue = "service",
) -> Json:
    """Open a service case.

    Args:
        customer_id: the customer whose case it is, e.g. `CU-10231`.
        subject: what the request is about.
        summary: what happened, in a sentence or two.
        account_id: the account the request concerns, if it concerns one.
        stage: how far the case is.
        disposition: how the request ended, once it did.
        queue: who works on it now.
    """
    db.one(Customer, customer_id)
    if account_id is not None:
        db.one(Account, account_id)
    opened = db.insert(
        ServiceCase,
        customer_id=customer_id,
        account_id=account_id,
        subject=subject,
        stage=stage,
        disposition=disposition,
        queue=queue,
        summary=summary,
        opened_at=db.now_text,
        updated_at=db.now_text,
    )
    return _case_view(opened)


@desk.write
def update_case(
    db: Db,
    case_id: Identifier,
    stage: Stage | None = None,
    disposition: Disposition | None = None,
    queue: Queue | None = None,
    summary: Text | None = None,
) -> Json:
    """Carry a service case on; what is not given stays as it is. A closed case stays closed and as it is.

    Args:
        case_id: the case, e.g. `CS-80125`.
        stage: how far the case is from now on.
        disposition: how the request ended.
        queue: who works on it from now on.
        summary: what happened, in a sentence or two.
    """
    require(db.one(ServiceCase, case_id).stage != "closed", f"Case {case_id} is closed; it cannot be changed.")
    columns = {"stage": stage, "disposition": disposition, "queue": queue, "summary": summary}
    changed = {name: value for name, value in columns.items() if value is not None}
    require(changed, f"Nothing to change: give at least one of {', '.join(columns)}.")
    return _case_view(db.update(ServiceCase, case_id, updated_at=db.now_text, **changed))


@desk.write
def add_remark(db: Db, case_id: Identifier, body: Text) -> Json:
    """Write a line on a service case, whatever its stage.

    Args:
        case_id: the case, e.g. `CS-80125`.
        body: the words of the remark.
    """
    owner = db.one(ServiceCase, case_id).customer_id
    remark = db.insert(CaseRemark, case_id=case_id, customer_id=owner, body=body, written_at=db.now_text)
    return _remark_view(remark)


@desk.write
def request_sign_off(db: Db, account_id: Identifier, kind: SignOffKind, amount: Money, grounds: Text) -> Json:
    """Ask the controls desk to sign off an amount on an account; `get_sign_off` tells the answer.

    An account can have one question of each kind.

    Args:
        account_id: the account, e.g. `AC-10231`.
        kind: what is to be signed off.
        amount: the exact amount in USD, e.g. 1240.55.
        grounds: why it should be signed off.
    """
    db.one(Account, account_id)
    require_positive(amount)
    asked = db.first(SignOff, account_id=account_id, kind=kind)
    require(asked is None, f"A {kind} was put to the controls desk for {account_id} already: {asked and asked.id}.")
    rule = db.first(SignOffRule, account_id=account_id, kind=kind)
    sign_off = db.insert(
        SignOff,
        account_id=account_id,
        kind=kind,
        amount_cents=amount,
        currency="USD",
        decision="pending" if rule is None else rule.decision,
        grounds=grounds,
        asked_at=db.now_text,
    )
    return {"sign_off_id": sign_off.id, "state": "asked"}


@desk.read
def get_sign_off(db: Db, sign_off_id: Identifier) -> Json:
    """A question to the controls desk and its `decision`: `granted`, `denied`, or `pending` while there is no answer.

    Args:
        sign_off_id: the question, e.g. `SG-90001`.
    """
    return _sign_off_view(db.one(SignOff, sign_off_id))
