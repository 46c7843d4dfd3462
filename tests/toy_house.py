"""A lending library written with the parts that companies share: three tables, six tools, one task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ForeignKey, bindparam
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tb_envs.authoring import (
    Count,
    Db,
    Identifier,
    Json,
    Money,
    Persona,
    Scenario,
    Text,
    ToolFault,
    Toolset,
    Vocabulary,
    Words,
    World,
    ask,
    call,
    changed,
    family,
    guarded,
    kept,
    narrative,
    say,
    writes,
)
from tb_envs.authoring.domain import Domain, Proofs
from tb_envs.certify.runs import state_before
from tb_envs.parts import compare, identity, scripts
from tb_envs.parts.columns import not_negative, one_of
from tb_envs.parts.views import Search, core_table, equal, listed, table_viewer, viewer
from tb_envs.task import Task, build_task

Kind = Literal["late", "lost"]
KINDS: tuple[Kind, ...] = ("late", "lost")


class Base(DeclarativeBase):
    pass


class Reader(Base):
    __tablename__ = "readers"
    __table_args__ = (guarded(prefix="RD"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    surname: Mapped[str]
    email: Mapped[str]
    phone: Mapped[str]


class Fine(Base):
    __tablename__ = "fines"
    __table_args__ = (one_of("kind", Kind), not_negative("left_cents"), guarded(prefix="FN"))
    id: Mapped[str] = mapped_column(primary_key=True)
    reader_id: Mapped[str] = mapped_column(ForeignKey("readers.id"))
    kind: Mapped[str]
    left_cents: Mapped[int]


class Check(Base):
    __tablename__ = "checks"
    __table_args__ = (narrative(prefix="CK", about="reader_id"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    reader_id: Mapped[str] = mapped_column(ForeignKey("readers.id"))
    facts_matched: Mapped[int]
    result: Mapped[str]


FINES = core_table(Fine)
fine_view = table_viewer("fine", Fine)
SEARCH = Search(
    source=FINES,
    view=fine_view,
    order=[FINES.c.left_cents.desc(), FINES.c.id],
    filters=equal(FINES, "reader_id", "kind") | {"at_least": FINES.c.left_cents >= bindparam("at_least")},
    owners={"reader_id": Reader},
)
desk = Toolset("desk", "Fines.")


@desk.read
def list_fines(
    db: Db,
    reader_id: Identifier | None = None,
    kind: Words | None = None,
    at_least: Money | None = None,
    page: Count = 1,
) -> Json:
    """Fines.

    Args:
        reader_id: of this reader.
        kind: of this kind.
        at_least: as high as this.
        page: from 1.
    """
    return SEARCH.page(db, page, reader_id=reader_id, kind=kind, at_least=at_least)


@desk.read
def all_fines(db: Db, reader_id: Identifier) -> Json:
    """All fines of a reader.

    Args:
        reader_id: the reader.
    """
    return listed(db.rows(Fine, reader_id=reader_id), viewer("fine", ["id", "reader_id"]))


@desk.write
def check_reader(db: Db, reader_id: Identifier, email: Words | None = None, phone: Words | None = None) -> Json:
    """Compare what a caller named.

    Args:
        reader_id: the reader.
        email: as named.
        phone: as named.
    """
    reader = db.one(Reader, reader_id)
    facts = [compare.fold(email) == compare.fold(reader.email)] if email else []
    facts += [compare.digits(phone) == compare.digits(reader.phone)] if phone else []
    result = "passed" if facts and all(facts) else "failed"
    db.insert(Check, reader_id=reader_id, facts_matched=sum(facts), result=result)
    return {"result": result}


@desk.write
def set_fine(db: Db, fine_id: Identifier, amount: Money, words: Text = "") -> Json:
    """Change a fine.

    Args:
        fine_id: the fine.
        amount: what is left of it.
        words: for the slip.
    """
    return fine_view(db.update(Fine, fine_id, left_cents=amount))


@desk.write
def add_fine(db: Db, reader_id: Identifier, amount: Money) -> Json:
    """A new fine.

    Args:
        reader_id: whose.
        amount: how much.
    """
    return fine_view(db.insert(Fine, reader_id=reader_id, kind="late", left_cents=amount))


@desk.write
def forgive(db: Db, reader_id: Identifier, but: Identifier | None = None) -> Json:
    """Take all fines of a reader off; what is nothing by then is struck out.

    Args:
        reader_id: whose.
        but: the one that is put back.
    """
    for fine in db.rows(Fine, reader_id=reader_id):
        if fine.left_cents:
            db.update(Fine, fine.id, left_cents=0)
        else:
            db.delete(Fine, fine.id)
        if fine.id == but and fine.left_cents:
            db.update(Fine, fine.id, left_cents=fine.left_cents)
    return {}


def seed(w: World) -> None:
    for number in range(3):
        w.insert(Reader, surname=f"Reader {number}", email=f"r{number}@old.example", phone=f"+44 7700 900 10{number}")


HOUSE = Domain(
    name="house",
    title="The House",
    role="You work at the desk of a library.",
    base=Base,
    toolsets=[desk],
    package="toy_library",
    vocabulary=Vocabulary(()),
    seed=seed,
    world=World,
    clock="2031-01-06T08:00:00Z",
    teams=("desk",),
    proofs=Proofs(note=lambda _: [], stray=lambda _: [], stray_undone=lambda _: []),
)


def task_of(needed: int = 2, most_facts: int = 5, ordered: bool = True, faults: Sequence[ToolFault] = ()) -> Task:
    """A reader with 12 fines wants the first halved; another has 2, a third has none."""

    @family(goal="halve a fine", traps={"identity"})
    def halve(w: World) -> Scenario:
        """A reader's fine is halved, once it is sure who calls."""
        reader = w.insert(Reader, surname="Öster", email="ida@oster.example", phone="+44 7700 900 123")
        fines = [
            w.insert(Fine, reader_id=reader.id, kind=KINDS[n % 3 == 0], left_cents=700 + n % 4 * 50) for n in range(12)
        ]
        for _ in range(2):
            w.insert(Fine, reader_id=next(iter(w._base["readers"])), kind="lost", left_cents=350)
        touched = (writes(Fine, id=fines[0].id),) if ordered else ()
        expects = [
            changed("fine", Fine, fines[0].id, left_cents=350),
            *identity.verified(
                Check,
                {"reader_id": reader.id},
                needed=needed,
                on_file=(reader.email, reader.phone),
                touches=touched,
                most_facts=most_facts,
            ),
            kept("dear fine kept", Fine, fines[1].id),
        ]
        facts = {"email": reader.email, "phone": reader.phone}
        solution = [
            ask("email", "phone"),
            call("check_reader", reader_id=reader.id, **facts, earns="verified"),
            call("set_fine", fine_id=fines[0].id, amount="3.50", earns="fine"),
            say("I have halved your fine. Everything is done."),
        ]
        waiver = call("set_fine", fine_id=fines[1].id, amount="0.00")
        wrong = identity.misjudged(
            solution,
            expects,
            "check_reader",
            besides=["reader_id"],
            wrong=[{"email": "a@b.example"}, {"email": "b@a.example"}],
            records=(),
        )
        return Scenario(
            customer=Persona(opens="My fine is too high, please halve it.", knows=facts),
            solution=solution,
            expects=expects,
            obeys=solution[2:],
            mistakes=scripts.possible(wrong, solution, expects)
            | scripts.forgotten(solution, "set_fine")
            | scripts.tempted(solution, ["set_fine"], ("waives more", expects[-1], waiver)),
            about=[reader.id],
            tool_faults=faults,
        )

    return build_task(HOUSE, halve, 0)


def reader_of(task: Task) -> str:
    return task.scenario.about[0]


def rows_of(task: Task, **equal: Any) -> list[dict[str, Any]]:
    rows = state_before(task)["fines"].values()
    return [row for row in rows if all(row[name] == value for name, value in equal.items())]
