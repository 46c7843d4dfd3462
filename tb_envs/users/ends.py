"""The ways in which a clause can speak of the end of a request, and the words for it.

Refuses to recognise them: that is `outcomes.py`.
"""

from __future__ import annotations

from typing import Final

from .phrases import stem_set
from .words import each

DONE: Final = "done"
REFUSED: Final = "refused"
PENDING: Final = "pending"
KEPT: Final = "kept"
"""Nothing changes; a refusal when nothing else is said."""
OBSTACLE: Final = "obstacle"
APPROVED: Final = "approved"
ARRIVES: Final = "arrives"
"""Money will come; an end when nothing is asked with it."""
PROMISE: Final = "promise"
WAIT: Final = "wait"
TICKET: Final = "ticket"
NOT_FOUND: Final = "not found"
UNVERIFIED: Final = "unverified"
NOT_YET: Final = "not yet"
RECORDED: Final = "recorded"
"""A piece of data was put right or noted; an end only where that was the request."""
LIMITED: Final = "limited"
"""The agent cannot say or decide it now; with a hand-over it is pending."""
INABLE: Final = "inable"
"""The agent itself cannot do it; refused, but pending where it was handed over."""
DEED: Final = "deed"
"""Something was done, but to no thing that requests are about; an end only when nothing is asked with it."""
RULE: Final = "rule"
"""What cannot be done as a rule; a refusal only when nothing is asked with it and no exception is named."""
EXCEPT: Final = "except"
"""There are exceptions from the rule."""
DECIDING: Final = "deciding"
"""Others are going to decide: whatever is said beside it, nothing is refused yet."""

BE = each("is are was were be been am get")
MODAL = each("can could may might would should must need cannot")
APPROVE = stem_set("approve grant authorise accept agree allow permit qualify")
REFUSING = each("denied declined rejected refused disapproved dismissed overruled quashed vetoed repudiated negatived")
BENIGN = stem_set(
    "only worry hesitate forget problem guarantee promise say tell know sure certain mean want need wait think imagine"
    " charge lose affect miss thank cost pay receive hear expect mind matter question want billed expired"
)
HARD_HYP = each("if unles should provid assum suppos case whether event would depend subject befor so")
FUTURE = stem_set("will shall going should expect would someone")
PAPERS = stem_set("confirmation receipt invoice copy voucher code")
SOON = stem_set("moment minute minutes second seconds shortly momentarily sec")
FREE_OF = stem_set("charge fee cost penalty problem delay further issue charges")
APPROVERS = stem_set(
    "approval manager supervisor authorisation permission management sign-off boss chief superior director"
)
DECIDERS = stem_set("approval manager decision answer supervisor response reply boss chief superior director")
ENTITLED = stem_set("qualify eligible entitled meet get receive")
HARMLESS = stem_set(
    "charge fee cost problem worry need rush further one longer additional extra action way number later matter"
)
PERSONAL = stem_set("identity email name detail address phone surname account data")
LACKING = stem_set(
    "room rooms availability space vacancy option possibility way authority right permission suite authorisation"
)
PROOFS = stem_set("guest holder verification verify identity proof authorisation identification consent")
PERSONS = stem_set("parent parents guardian mum guest holder owner booker himself herself cardholder policyholder")
GATES = each("without unles until til before")
TELLS = each("i we you he she it they is are hav can know be was were receiv get")
INSISTING = stem_set(
    "not no but policy rule rules terms term rate condition conditions contract same apply decision final sorry regret"
    " understand afraid exception remain stand stay agree appreciate alter matter difference hand hands change said"
    " as however sympathise answer nothing wish loyal regardless even though although told"
)
"""Words of somebody who stands by a refusal."""
REGRETS = stem_set("sorry regret pity wish shame apologise afraid sad")
HELPED = stem_set("help assist oblige service more better time occasion result assistance work")
SAYING = stem_set(
    "answer decision result promise commitment guarantee timeline verdict outcome settle decide promise conclude finish"
)
HANDOVER = stem_set("transfer hand connect pass redirect route refer escalate forward")
MONEY = stem_set("refund refunded money fund credit amount reimbursement compensation points voucher")
ARRIVE = stem_set("receive see get find have")
CHECKS = stem_set("verification check identity security review search lookup code")
REPORTS = stem_set("complaint feedback report dispute claim incident preference")
CHANGING = stem_set(
    "switch swap change adjustment exception amendment correction refund update arrangement modification increase raise"
)
TICKETS = stem_set("ticket case request enquiry")
GENERAL = stem_set("process issue send make refund pay handle apply calculate credit return")
WORK = stem_set(
    "check look review verify pull search find see investigate proceed handle work consult ask speak talk calculate"
    " read try run take go dig discuss clarify study double-check fetch examine locate confirm get figure start begin"
    " inquire quote compute open retrieve note request submit use sort prepare do hold log record document compare"
)
NOT_WORK = stem_set("know explain tell say have get ask start begin be need let apologise apologize understand happy")
AVAILABLE = stem_set("available free vacant open bookable")
PRICES = stem_set("total price rate balance cost fee sum policy rule charge")
INTRANSITIVE = stem_set("change increase move close drop raise lower extend")
QUESTION_LIKE = frozenset(("that", "whom", "why"))
ANSWERS = stem_set("answer decision reply verdict response")
