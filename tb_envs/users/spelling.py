# ruff: noqa: E501
"""How words are written short, misspelled and inflected, as data.

Refuses to hold meaning: two words share a stem here only when an agent may use one for the other.
"""

from __future__ import annotations

SHORT = {
    "cant": "can not", "cannot": "can not", "wont": "will not", "dont": "do not", "doesnt": "does not",
    "didnt": "did not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "havent": "have not",
    "hasnt": "has not", "couldnt": "could not", "wouldnt": "would not", "shouldnt": "should not",
    "im": "i am", "ive": "i have", "youve": "you have", "weve": "we have", "thats": "that is",
    "whats": "what is", "whos": "who is", "hows": "how is", "wheres": "where is", "whens": "when is",
    "theres": "there is", "u": "you", "ur": "your", "r": "are", "pls": "please", "plz": "please",
    "plse": "please", "thx": "thanks", "ty": "thanks", "gonna": "going to", "wanna": "want to",
    "gotta": "have to", "lemme": "let me", "gimme": "give me", "ok": "okay", "k": "okay", "yep": "yes",
    "yeah": "yes", "nope": "no", "e-mail": "email", "e-mails": "email", "emails": "email", "gotcha": "got it",
    "checkin": "check in", "checkout": "check out", "lastname": "last name", "firstname": "first name",
    "wat": "what", "wut": "what", "wen": "when", "tmrw": "tomorrow", "coz": "because",
    "cuz": "because", "cos": "because", "bday": "birthday", "ill": "i will", "youll": "you will", "hes": "he is", "shes": "she is", "resv": "reservation", "conf": "confirmation", "rsvn": "reservation",
    "reso": "reservation", "double-check": "recheck", "double-checking": "rechecking", "double-checked": "rechecked", "res": "reservation", "rez": "reservation", "info": "information", "dets": "details", "w/o": "without", "w/": "with",
    "mgr": "manager", "dept": "department", "depts": "departments", "acct": "account", "dob": "birth date", "asap": "asap", "yrs": "yours", "sec": "second",
    "secs": "second", "min": "minute", "mins": "minute", "nr": "number", "num": "number", "nbr": "number",
    "n°": "number", "nº": "number", "#": "number", "№": "number", "hiya": "hello", "unfort": "unfortunately",
    "appreciated": "appreciate", "should've": "should have", "let's": "let us", "lets": "let us",
    "won't": "will not", "can't": "can not", "shan't": "shall not", "ain't": "is not", "ma'am": "madam",
    "o'clock": "clock", "y'all": "you", "'em": "them", "e.g": "eg", "i.e": "ie", "eg": "eg", "&": "and", "+": "and",
    "canceld": "cancelled", "canclled": "cancelled", "cancle": "cancel", "cancling": "cancelling", "no-show": "noshow", "no-shows": "noshow", "p.m": "pm", "a.m": "am", "p.m.": "pm", "a.m.": "am", "hwo": "how", "wud": "would", "cud": "could", "yr": "your", "snd": "send", "brithday": "birthday", "brithdate": "birthdate", "n": "and", "yuo": "you", "yuor": "your", "teh": "the", "coud": "could", "woud": "would", "adn": "and", "nd": "and", "wats": "what is", "wich": "which", "wht": "what", "giv": "give", "hav": "have", "plese": "please", "pleas": "please", "abt": "about",
    "confirmaton": "confirmation", "adress": "address", "adres": "address", "recieve": "receive",
    "reciept": "receipt", "reservaton": "reservation", "bookin": "booking", "telefon": "phone", "numer": "number", "nummer": "number", "numbr": "number", "calld": "called", "emial": "email", "bkg": "booking", "bkng": "booking", "rsv": "reservation", "resa": "reservation", "fone": "phone", "addr": "address", "mob": "mobile",
    "fam": "family", "sirname": "surname", "surename": "surname", "arr": "arrival", "dep": "departure", "hw": "how", "whr": "where", "tlf": "phone", "d.o.b": "birth date", "d.o.b.": "birth date", "mail-address": "email address", "e-mail-address": "email address", "eml": "email", "smth": "something", "sth": "something", "nm": "name", "meny": "many", "mani": "many", "nite": "night", "nites": "nights", "rom": "room", "ned": "need", "neds": "needs", "yor": "your", "youre": "you 're", "gif": "give", "gifs": "gives", "geve": "give", "enuf": "enough", "inuf": "enough", "coir": "choir", "qoir": "choir", "chior": "choir", "kwire": "choir", "bak": "back", "wot": "what", "lst": "last", "tym": "time", "nme": "name", "nane": "name", "nmae": "name", "naem": "name", "shud": "should", "wana": "want to", "reffer": "reference", "refrence": "reference", "bok": "book", "boked": "booked", "leev": "leave", "mayl": "mail", "emale": "email", "e-male": "email", "sumthing": "something", "resnr": "reservation number", "bookingnumber": "booking number", "phonenumber": "phone number",
}  # fmt: skip
STEMS = {
    "suit": "befit", "suits": "befit", "suite": "suit", "suites": "suit", "sent": "send", "noted": "noted", "note": "note", "notes": "note", "agreement": "agre", "agreed": "agre", "agrees": "agre", "agreeing": "agre", "blessing": "blessing", "gave": "giv", "given": "giv", "told": "tel", "found": "find", "made": "mak", "paid": "pay",
    "struck": "strik", "undone": "undo", "went": "go", "gone": "go", "going": "go", "doing": "do", "goes": "go", "took": "tak", "taken": "tak", "kept": "keep", "left": "leav",
    "has": "hav", "had": "hav", "have": "hav", "does": "do", "did": "do", "done": "done", "saw": "see", "seen": "see",
    "got": "get", "gotten": "get", "spoken": "speak", "heard": "hear", "held": "hold", "chosen": "choos",
    "chose": "choos", "spelt": "spel", "these": "that", "this": "that", "those": "that", "people": "person",
    "was": "was", "is": "is", "his": "his", "us": "us", "yes": "yes", "its": "its", "cancellation": "cancel",
    "cancelation": "cancel", "thanks": "thank", "modification": "modifi", "verification": "verifi",
    "identification": "identifi", "identity": "identiti", "authorisation": "authoris", "authorization": "authoris",
    "authorize": "authoris", "authorized": "authoris", "authorise": "authoris", "authorised": "authoris",
    "approval": "approv", "approvals": "approv", "removal": "remov", "refusal": "refus", "denial": "deni",
    "extension": "extend", "escalation": "escalat", "apologize": "apologis", "apology": "apologis",
    "apologies": "apologis", "finalize": "finalis", "finalized": "finalis", "organization": "organis",
    "organisation": "organis", "licence": "licens", "license": "licens", "reservation": "booking", "reservations": "booking",
    "reserve": "book", "reserved": "book", "booking": "booking", "bookings": "booking", "arrival": "arriv",
    "departure": "depart", "telephone": "phone", "mobile": "phone", "cell": "phone", "cellphone": "phone",
    "code": "number", "id": "number", "ref": "number", "reference": "number", "identifier": "number",
    "locator": "number", "references": "number", "codes": "number", "ids": "number", "unable": "unabl", "able": "abl",
    "eligible": "eligibl", "ineligible": "ineligibl", "possible": "possibl", "impossible": "impossibl",
    "membership": "member", "explanation": "explanation", "relation": "relationship", "relationship": "relationship", "related": "related",
    "during": "during", "nothing": "nothing", "anything": "anything", "something": "something", "thing": "thing",
    "everything": "everything", "bring": "bring", "brought": "bring", "king": "king", "meeting": "meeting", "during ": "during",
    "evening": "evening", "morning": "morning", "string": "string", "need": "need", "indeed": "indeed",
    "proceed": "proceed", "exceed": "exceed", "breed": "breed", "bed": "bed", "beds": "bed", "feed": "feed",
    "speed": "speed", "billing": "billing", "accounting": "accountant", "building": "building", "spring": "spring", "outstanding": "outstanding",
    "resolution": "resolv", "decision": "decid", "suggestion": "suggest", "permission": "permit", "permitted": "permit",
    "colour": "color", "favourite": "favorit", "cheque": "check", "postal": "post", "zip": "zip", "ready": "ready",
    "wrote": "writ", "written": "writ", "put": "put", "set": "set", "said": "say", "saying": "say", "dates": "dates", "date": "date", "phone": "phone", "phones": "phone", "phoned": "phone",
    "qualified": "qualifi", "denied": "deni", "spoke": "speak", "lost": "lost", "withdrawn": "withdraw", "withdrew": "withdraw", "unfrozen": "unfreez", "frozen": "freez", "froze": "freez", "broken": "break", "broke": "break",
    "understood": "understand", "rebooked": "rebook", "bought": "buy", "reaching": "reach", "better": "better",
    "payment": "pay", "payments": "pay", "transaction": "transact", "transactions": "transact",
}  # fmt: skip
"""What a rule of stemming would get wrong, and words that mean the same in an office."""
FUNCTION_WORDS = [
    "where",
    "whose",
    "there",
    "here",
    "before",
    "because",
    "since",
    "while",
    "although",
    "whereas",
    "more",
    "same",
    "some",
    "please",
    "else",
    "are",
    "were",
    "none",
    "twice",
    "wherever",
    "they",
    "whichever",
    "confirmation",
    "everyone",
    "someone",
    "anyone",
    "one",
    "once",
]
STEMS.update((word, word) for word in FUNCTION_WORDS)


def each(listed: str) -> frozenset[str]:
    """The words of a list written as one string."""
    return frozenset(listed.split())


DETERMINERS = each("the a an your my our their his her its")
POLITE = each("please kindly")
FILLERS = each(
    "just also really quickly actually simply very quite perhaps maybe possibly currently now still already again"
    " indeed completely successfully officially finally formally duly hereby immediately therefore"
    " unfortunately sadly regretfully however only briefly please kindly additionally moreover furthermore lastly"
    " usually generally normally typically personally honestly exact exactly precisely concretely specifically respective correspondingly"
    " gladly happily directly even ever oh ah um uh hmm dear madam sir ma'am meanwhile hence"
)
DROPPED = DETERMINERS | FILLERS
"""Words that phrases and what is heard do without."""
GENERAL = each("usually generally normally typically only")
"""Words that make a sentence a rule."""
HEDGES = each("perhaps maybe")
