# ruff: noqa: E501
"""The customer's own words where the persona has none, and what its manner does to them.

Refuses to carry content: no line here states a fact, a number, a wish or an end of a request.
"""

from __future__ import annotations

from collections.abc import Sequence

LINES: dict[str, tuple[str, ...]] = {
    "yes_right": ("Yes, that's right.", "Yes, correct.", "That's correct.", "Yes, that is right."),
    "rest_right": ("The rest is right.", "Everything else is correct."),
    "no": ("No, that's not right.", "No, sorry, that is wrong.", "That's not quite right."),
    "that_is_wrong": ("No, that's not right.", "No, that is not correct."),
    "lacks": ("I don't have that to hand, sorry.", "I'm afraid I don't have that with me.", "Sorry, I don't know that one."),
    "wont_say": ("I'd rather not say.", "I would prefer not to give that.", "I don't want to share that."),
    "unknown_fact": ("I don't have that, sorry.", "I'm afraid I can't tell you that; I don't have it.", "Sorry, that I don't know."),
    "unknown": ("I don't know, sorry.", "I'm afraid I don't know.", "That I can't tell you, sorry.", "Sorry, I don't know that."),
    "yielded": ("Oh, I see. Then I was mistaken.", "Ah. Then I had that wrong.", "All right, then I got that wrong."),
    "accept": ("Yes, I'll take that.", "Yes, that would be fine.", "All right, let's do that.", "Yes, that works for me."),
    "decline": ("No, thank you.", "No, I don't want that.", "No, I'd rather not."),
    "too_much": ("That's more than I want to pay.", "No, that is too much for me.", "Hmm, that's too expensive for me."),
    "decline_other": ("No, thank you. I'd rather stay with what I asked for.", "No, thanks, that is not what I'm after.", "Thank you, but no. I only want what I asked for."),
    "ask_price": ("How much would that be?", "What would that cost me?", "And what is the price for that?"),
    "which_cheaper": ("Which one is cheaper?", "Which of them costs less?"),
    "consent": ("Yes, please go ahead.", "Yes, please do.", "Yes, go ahead.", "Sure, please go ahead.", "Yes, that's fine, please proceed."),
    "no_consent": ("No, please don't.", "No, I don't want that.", "No, please leave it."),
    "needs": ("Before I say yes: can you tell me the {thing} you have down for that?", "Which {thing} would that be, exactly?"),
    "waited": ("Sure, take your time.", "Of course, I'll wait.", "No problem.", "Okay, thank you."),
    "acknowledged": ("Okay.", "All right.", "Okay, thanks.", "I see."),
    "what_next": ("Thank you. What do you need from me?", "Thanks. Is there anything you need from me?", "Thank you, I appreciate it. What happens next?"),
    "fine": ("I'm fine, thank you.", "Fine, thanks."),
    "asked_back": ("Sorry, I don't understand. What do you mean?", "I'm not sure I follow. Could you say that in other words?", "Sorry, what do you mean?"),
    "repeat": ("Let me say it again.", "I'll put it another way.", "As I said:", "Once more:"),
    "reminded": ("Not yet, please: what about my request?", "Wait, please. You haven't told me yet what happens with my request.", "Before that: what is the outcome of my request?"),
    "and_the_other": ("And what about the other thing I asked?", "What about my other request?"),
    "gives_in": ("All right, I understand.", "Okay, I'll accept that, then.", "Fine, if there is no other way.", "Well, all right then."),
    "glad": ("Great, thank you.", "Wonderful, thank you.", "Perfect, thanks.", "Thank you very much."),
    "hears": ("All right.", "Okay, I understand.", "I see."),
    "thanks": ("That's all, thank you for your help. Goodbye.", "Thank you for your help. Goodbye!", "That is all I needed. Thanks, bye.", "Thanks for your help, bye."),
    "bye": ("Goodbye.", "Bye.", "Thanks, bye."),
    "leaves": ("I'm sorry, this isn't getting us anywhere. Goodbye.", "I don't have the time for this. I'll try again another day. Goodbye."),
    "settled": ("One more thing:", "There is something else.", "And another thing:"),
    "halfway": ("Oh, and another thing:", "By the way, one more thing:"),
    "changed_mind": ("Actually, I've changed my mind.", "Wait, I thought about it again."),
    "instead": ("Then I'd rather go for the other option.", "In that case let's do the other one instead."),
    "what_for": ("What do you need the rest for?", "Why do you need the other details?"),
    "more_later": ("One thing at a time, please.", "Let me look for the rest."),
    "identity_unknown": ("I'm not sure what you need exactly. What should I give you?", "Which details do you need?"),
    "that_is_me": ("Yes, that's me.", "Yes, it's me."),
    "no_idea_why": ("That's strange. I can't explain that.", "I don't know why that would be."),
}  # fmt: skip
RAMBLES = (
    "Sorry, it has been one of those days, you know how it is.",
    "I had it written down somewhere, wait, the pen is gone, no, here it is.",
    "My neighbour always says I should keep a folder for these things, and she is right, of course.",
    "I meant to get in touch earlier, but then one thing came after another.",
    "Bear with me, I'm not very quick with these things.",
)
DIGRESSIONS = (
    "Is it raining where you are, too?",
    "I was just watching something about penguins, fascinating animals.",
    "The waiting music was quite nice, by the way.",
    "My sister once worked on a help desk; she liked it.",
    "Anyway, where were we?",
)
HURRIES = (
    "And please hurry up.",
    "I really don't have all day.",
    "Can we get on with it?",
    "I expect this to be sorted out quickly.",
)


def in_manner(text: str, manner: str, roll: float) -> str:
    """The same content as a person of this manner says it; `roll` in [0, 1) decides whether and how."""
    extra: Sequence[str] = ()
    if manner == "rambling":
        extra = RAMBLES
    elif manner == "digressing":
        extra = DIGRESSIONS
    elif manner == "pushy":
        extra = HURRIES
    if not extra or roll > 0.7:
        return text
    line = extra[int(roll / 0.7 * len(extra)) % len(extra)]
    return f"{line} {text}" if manner == "rambling" and roll < 0.35 else f"{text} {line}"
