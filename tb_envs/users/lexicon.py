# ruff: noqa: E501
"""The words of business English that carry intent, as data: phrases by label, verbs by class.

Refuses to hold logic and anything of one domain. Phrases are compared by stem, with determiners and
fillers dropped (`phrases.py`), so one spelling stands for its inflections.
"""

from __future__ import annotations

from .phrases import stem_set, stems
from .words import each

ASK_VERBS = stem_set(
    "give provide tell share confirm send remind specify state supply spell read repeat verify clarify explain"
    " advise indicate enter pass forward quote say submit identify describe mention inform"
    " write recall disclose furnish reveal elaborate dictate outline communicate restate"
)
COMMANDS = stem_set("type name show list post drop present text fill input paste dump print output export")
"""Asks only at the beginning or after "please": most are nouns else."""
GET_VERBS = stem_set(
    "have get ask know take grab see note collect obtain request confirm verify borrow enquire inquire check record jot learn"
)
NEED_VERBS = stem_set("need require want appreciate lack missing like love")
DONE_VERBS = stem_set(
    "cancel refund change move update book process issue complete confirm apply waive remove add extend upgrade"
    " downgrade reverse credit send email resolve fix close finalise arrange adjust correct transfer merge reinstate"
    " split restore post reissue schedule reschedule rebook modify amend delete settle sort switch swap grant approve"
    " reduce compensate reimburse release block unblock freeze lock replace reorder ship enroll enrol activate"
    " deactivate enable disable assign provision revoke renew honour honor shorten attach combine consolidate void"
    " withdraw return exchange deduct discount lower increase raise lift order create generate print execute secure"
    " postpone shift link carry initiate trigger launch fulfil fulfill give set do take rectify handle redeem register relocate make pay put accept bring terminate"
    " wipe clear deduct price-match dispatch deliver install unlock reset top-up guarantee place extend implement drop"
    " stop recall end pause break resume suspend file reopen chargeback unfreeze alter mail scrap erase annul nullify undo rebate recredit re-credit allocate effect perform strike knock bump trim rescind regularise prolong"
)
PLAIN_PAST = each(
    "sent done given gave made taken took put set paid reset split brought lifted withdrawn shifted cut shipped struck undone withdrew unfrozen frozen froze broken broke"
)
"""Past forms that do not end in -ed."""
BOOKKEEPING = stem_set(
    "ticket case note record file log summary comment memo remark profile notes documentation system team"
)
WEAK_DONE = stem_set(
    "give take make put do place set pay accept raise open create register secure handle bring drop confirm return"
    " effect perform strike knock bump trim allocate"
)
"""They tell of an end only with an agent as subject or in the passive, and not of themselves."""
CAPABLE = stem_set(
    "able possible allow permit eligible qualify entitle approve grant authorise accept offer refund cancel waive change move"
    " make do proceed process provide issue give honour accommodate extend upgrade remove reverse reduce apply cover"
    " support available refundable happen count work release share disclose discuss transfer add book complete fulfil meet"
    " arrange adjust modify amend reimburse compensate credit pay help assist go grant permissible feasible applicable"
    " viable override bypass bend return exchange reinstate reschedule rebook reopen split allowable switch agree"
    " continue assign merge put send stay let bring update correct delete postpone discount deduct return act take reset discuss divulge swap earn dispute recall trace break file stop raise end pause reopen unfreeze increase"
)
LOOK = stem_set(
    "find locate see access trace match recognise identify verify view spot authenticate retrieve pull open reach read confirm"
)
PENDING_VERBS = stem_set(
    "escalate forward pass refer hand route submit transfer request queue flag redirect raise file open lodge relay"
    " connect notify send report create log assign place put initiate"
)
THIRD = stem_set(
    "manager team department supervisor colleague specialist desk office approval review ticket case finance billing"
    " management director duty-manager partner agency headquarters accounting expert lead authorities"
    " supervisor's security queue unit operations senior staff owner property guys folks upstairs boss chief superior bookkeeping treasury compliance fraud clearing centre center director sales accountant controller panel committee underwriters coordinator administrator auditor buyer planner representative"
)
ACTIONS = {
    "cancel": stem_set("cancel cancellation annul terminate"),
    "refund": stem_set("refund reimburse money reimbursement"),
    "change": stem_set("change move reschedule postpone modify amend shift rebook switch alter"),
    "upgrade": stem_set("upgrade"),
    "extend": stem_set("extend extension prolong"),
    "add": stem_set("add"),
    "remove": stem_set("remove delete"),
    "waive": stem_set("waive"),
    "invoice": stem_set("invoice receipt bill"),
    "dispute": stem_set("dispute chargeback"),
}
ACTION_OF = {word: action for action, words in ACTIONS.items() for word in words}
STARTERS = each(
    "i we you it they he she there that can could may might would will shall should do is are have who what which when"
    " where why how let here everything both nothing all anything something"
)
"""Stems that begin a new clause after "and", "or" or a comma (besides question words and imperatives)."""
QUESTION_WORDS = each("what which who whose whom where when why how")
DOMAIN = stem_set(
    "booking reservation stay room night hotel guest rate fee charge price cost refund policy payment card account"
    " check-in system manager order bill invoice date email name cancel change upgrade breakfast parking deposit points"
    " loyalty record request case ticket desk property amount total deadline penalty tax discount voucher credit"
    " organiser leader folio item minibar housekeeping note suite upgrade dog pet car plate loyalty status confirmation limit transfer dispute overdraft recall mandate merchant standing balance passcode cashback arrival departure today tomorrow hour day week month customer company detail information option"
    " plan tier member approval note message offer terms condition period window status reason standard full free"
)
_COMMON = (
    "i you he she it we they me him us them is are was be been being am do does did have has had will would can could"
    " should may might must not no yes and or but if of to in on at for with from by about as that this there here what"
    " which who when where why how so then than because okay sure great good fine thank thanks hello hi sorry right all"
    " more most other one two get got go see know think need want like make take give say tell come look up out over"
    " into your my our the a an its"
)
COMMON = each(_COMMON) | stem_set(_COMMON)

LABELS: dict[str, tuple[str, ...]] = {
    "ask": (
        "(would|do|could|will|did) you mind", "(shall|should|may|can|could|will) (we|i) (start|begin) with",
        "mind (telling|sharing|giving|if i ask|me asking|saying|confirming|repeating|if i take|if i have|if i get|if i note)", "(reply|respond|write|come|get) (|back) with",
        "(do|did|would|have) (|not) you (|happen to|by chance|by any chance) (have|know|remember|recall|got)",
        "you (have got|happen to|would have|got)", "(any|by) chance", "chance you",
        "(is|are|be) (needed|required|missing|necessary|mandatory|essential|outstanding)",
        "(i|we) (did|do) not (have|see|catch|get|receive|find|hear|know)", "(i|we) have not (got|had|caught)", "(i|we) (|am|are) (missing|lack)",
        "(i am|we are) (short of|after|asking for|looking for|waiting for|waiting on|in need of|curious)",
        "you (did|have|do) not (mention|give|tell|include|provide|say|specify|state|share)", "would (start|begin) with", "you forgot", "you left out", "not (think|believe) you (|have|did) (give|tell|mention|say|send|share)", "not (think|believe) (i|we) (have|got|caught|know)", "as long as you (can|could|) (name|give|tell|state|share|send|provide|have)",
        "let (me|us) (have|get|take|grab|ask|start with|collect|note|begin with|know)", "let us (start|begin)",
        "(know|understand|establish|find out|work out|clarify|learn) (what|which|who|why|when|where|how)",
        "(want|like|wish|need|love|curious|have|try|here|going|good|help|useful) to (know|ask|have|get|take|see|hear|note|collect|confirm|verify|learn|receive|obtain)",
        "wondering", "wonder (what|which|if|whether|why|who|when|how)", "i ask", "asking for", "need from you",
        "following", "(would|will) be (enough|sufficient|helpful|great|good|nice|useful|lovely|appreciated|perfect|needed|ideal|best|preferable|preferred|fine|handy|welcome)", "would help", "(is|are) (enough|sufficient)", "suffice", "(will|would) (do|suffice)",
        "if you (could|can|would|do not mind|have|give|tell|share|provide|send|let|confirm|supply|remember|know)",
        "(once|when|after|as soon as|if|until|unless) (i|we) (have|get|receive|got|see|know|am told)", "(allow|permit) me to (ask|enquire|inquire)",
        "(once|when|after|as soon as|until|unless) you (have|send|provide|share|give|tell|confirm|supply)",
        "without", "(point|direct|guide) (me|us) to", "depends on", "with that i can", "on hand", "to hand", "handy", "within reach", "at hand",
        "quote", "(appreciate|grateful) (it|) if", "could use", "one more (detail|thing|question|piece)", "(last|next|first|final|other|second|third|remaining) (thing|item|question|point|detail|piece|bit) (is|are|would be)", "(help|hit|provide|supply|furnish|trust|equip) (me|us) with",
        "(give|tell|send|leave|drop|pass) (me|us)", "last question", "quick question", "be so (kind|good)", "fill me in", "come up blank",
        "in order to (proceed|continue|help|assist)", "for verification", "for security", "trouble you", "bother you",
    ),
    "whole": (
        "(verify|confirm|prove|establish|check|validate|authenticate) (who you are|yourself|account|that it is you|it is you|that you are who|that i am speaking|that you are guest|that you are holder|ownership|holder)",
        "verify you", "identify (yourself|you)", "(form|kind|sort|type|piece|bit|means|way) of (verification|proof|identification|validation|authentication)", "(some|any|sufficient|suitable) (verification|identification)", "proof (of identity|that it is you|it is you|that you are)", "you prove", "you (|wil) (have|need) to be (verified|identified|authenticated)", "you must be (verified|identified|authenticated)", "you are (account|booking|main|lead|registered) (holder|owner|guest)", "identity", "authenticate", "you are (right|correct|actual|rightful|same|real|very) (person|guest|holder|owner|customer)", "you are who you (say|claim)", "prove (it|that) (is|that) you", "identification", "who you are", "prove it is you", "pass security",
        "(all|every|full|complete|some|more|further|other|personal|necessary|relevant|required|basic|additional|few|guest|customer|profile|booking|account|stay|of|verification|identification|security|identifying|with|for) (details|information|data|particulars|credentials)",
        "(share|provide|give|send|tell|need|require|have|take|get|grab|collect|confirm|verify) (|me|us) (|with|down) (details|information|particulars|credentials|data)",
        "(security|identification|verification) (check|question|process|procedure|step)", "everything (you have|you know|you got|about)", "(all|whatever|anything) you (have|know|got) (|got) (on|about|so|for)", "whatever you (have|know|got)", "(how|which way) (would|do|will|can|could|shall) you (|like|want|prefer|wish) (|to) (verify|identify|authenticate)", "(something|anything|sth|detail) (that|which|to) (show|prove|confirm|identify|verify|match)", "(something|anything|detail) (guest|holder|owner|booker|customer|you) (|would|will|can|could) know", "(something|anything) (|that|which) (|is) (on|from) booking", "you (verify|confirm) (couple|few|some|two|three) (|of) (things|details|points)", "(start|begin) with (details|data|information)", "(how|where) (can|could|do|may|shall|would|will|should) (i|we) (find|locate|identify|look up) you", "(something|anything) (to|i can|we can|i could|that i can|we could) (search|look|find|go|identify)", "(with|by) what (can|could|may|shall|should) (i|we) (find|look|locate|identify|search)", "(which|what) (details|information|data) (can|could|do|would|will|have) you (give|have|provide|share|tell|remember|got)", "what (can|could) you (tell|give) (me|us) about (booking|stay|yourself)", "(details|data|information) from (profile|account|booking|you)", "(about|introduce) yourself",
    ),
    "contact_detail": ("contact (details|information|data)", "(reach|contact) you", "get hold of you", "get back to you"),
    "goal": (
        "what (it is|is it) (that|) (we|you|i)", "nature of (wish|matter|concern)", "in (what|which) way", "what (alteration|modification|amendment|adjustment)", "what (do|did) you (request|require|seek|desire)",
        "how (can|may|could|might|shall|do) (i|we) (|best) (help|assist|be of|serve|support|make|improve|brighten)", "what can (i|we) (do|help|assist)", "what (can|may) i (help|get)",
        "tell me more", "what (is|was|seems to be|appears to be) (|wrong) (|with) (issue|problem|matter|trouble|concern|request|question)", "what (is|seems) wrong",
        "what (do|would|did) you (want|like|need|wish|mean)", "what would you have", "what are you (looking for|trying to|hoping|after|asking)",
        "(describe|explain|clarify|elaborate|outline|summarise|repeat|rephrase|restate) (|on|for|me|to me) (issue|problem|request|situation|question|concern|what you|matter|that|more)",
        "what (brings|brought) you", "what is (it|that) (about|you|regarding)", "in own words", "what (is it that|) (have|has|need|ought) (to be|) (done|changed|arranged|sorted|fixed|altered)", "what (would|will|must|should|can|may|could) (have to|need to|) be (done|changed|arranged|sorted|altered|fixed)", "what (is it|it is) (you|we|i|that|) (|you|would|can|could|may|might) (need|want|like|wish|do|arrange)", "which service (may|can|could|shall|do|would)", "what are you after", "what you (want|wish|need|like) (from|of) (me|us)", "what (is it|it is) you (want|wish|need|would like) (from|of) (me|us)", "what (may|can|could|shall) (i|we) (arrange|do|sort|organise|change) for", "(calling|contacting|writing) (about|us about|regarding)", "what outcome", "what (shall|should|may) (i|we) (do|change|arrange)", "what (change|kind of change|sort of change) (do|would|should|did) you", "(what|which) (|kind of|sort of|type of) change (is it|is|are|do|would|should|did|shall|can|may|will) (|it|you|we|i|that)", "what (is|are) to be (changed|done|arranged|altered|sorted)",
        "details of (request|issue|problem)", "more about (what|request|issue|problem|situation|it)", "(bit|little) more", "walk me through", "(nature|purpose) of (call|request|enquiry|inquiry)",
        "how (can|may) i direct", "what (do|did|would) you (request|desire|require|seek|intend|ask for|ask of us)", "what is it (that|) you (wish|want|need|require|desire|request|seek)", "what (is it|it is) (|that) (you|we|i) (|should|shall|can|may|are|would) (wish|want|need|require|desire|request|seek|like|do|arrange|asking|after|looking)",
        "what (can|may|could|should|shall|must|might) (i|we) (arrange|sort|change|organise|do|take care|set up|look after|see to)", "(in|which|what) way (can|may|could|might) (i|we)", "(state|explain|describe|outline|specify|set out|summarise|name|present|repeat|restate|lay out|put|formulate|detail) (concern|request|matter|wish|wishes|subject|issue|problem|enquiry|inquiry|concerns|business|case|desire|complaint)",
        "(purpose|subject|nature|object|topic|matter|point|aim) of (message|enquiry|inquiry|call|contact|request|letter|visit|email|communication|concern|complaint|writing)", "what (seems|appears) (|to be) (trouble|wrong|problem|matter)", "what (should i|i should|shall i|i shall|i am to|am i to|we should|should we) (do|change|arrange|book|cancel|move)", "(have|had) in mind", "where (were|was) we", "what is up", "(request|wish|concern|issue|problem|matter|question|enquiry) is what", "what is it that", "what (would|will) it be", "what you (want|wish|need) (me|us) to", "what would you (like|want|have) (me|us|done|arranged|changed)", "what you would (like|want) (me|us|done|arranged|changed|to have)", "what (is|are) wish", "what are wishes", "what would you wish", "what would you (like|want) to have (done|arranged|changed)", "(be|at) of service to", "what you (would|) (like|wish|want) (us|me) to do", "where would you like to start", "please go ahead and (tell|explain)", "i am (listening|all ears)", "what else do you need to",
    ),
    "consent": (
        "(should|shall) (i|we)", "(do|did|would) you (want|like|wish|prefer) (|for) (me|us) to", "(want|like|prefer|wish|need) (me|us) to",
        "(can|may|could|shall) (i|we) (go ahead|proceed|continue|carry on|move forward|move ahead|go on|finalise|do that|do so|do it)",
        "(go ahead|proceed|continue|move forward|move ahead|carry on|green light|go for it)",
        "(is|are|would) (that|it|you|everything|all|both|terms|amount|fee|price|charge|cost|they|there) (|be) (okay|fine|alright|all right|acceptable|agreeable|in order|good|cool|happy|satisfied|comfortable|in agreement|agreed|suitable|convenient|prepared|ready|willing)",
        "(okay|fine|alright|acceptable|agreeable|cool|good|suitable) (with|for|by) you",
        "(does|will|would|do|could|might) (that|it|everything|they) (work|suit|sound)", "sound (good|okay|fine|alright|reasonable|acceptable|fair)", "works for you",
        "(do|would|will|can|could|did|if) you (agree|accept|consent|approve|authorise)", "you (agree|accept|consent|approve|okay|agreed)",
        "(happy|okay|fine|comfortable|alright) (with|for me|for us|to|if)", "ready for (me|us)", "you (happy|comfortable)", "have permission", "consent", "go-ahead", "authorise me",
        "are you sure", "you (are|) (sure|certain|positive)", "(say|reply|type|answer|respond|write|with) (yes|y|confirm|agree)", "yes or no", "(y|yes) or (n|no)",
        "do you want that", "is (that|it) what you (want|would like|need|wish)", "nod", "say word", "(confirm|know|tell me) (|that|if|whether) (i|we) (should|may|can|shall)", "(confirm|agree|acknowledge) (|that) you (would|do|are|want|like|wish|agree|accept|happy|okay|understand|consent|willing)",
        "is it (okay|alright|fine|acceptable) (if|to|for|that)", "you (live|cope|be okay|be fine|be happy) with", "objection", "good to (go|proceed)", "(accept|agree to|agree with) (that|terms|fee|charge|cost|price|conditions|amount)",
        "how does that sound", "is (that|it) yes", "as yes", "take (it|that) as (agreed|accepted|settled|approved|confirmed|granted|okay|consent|agreement)", "(yes|okay|confirmation) from you", "(that|it|everything|they) (is|works|sounds|suits|are) (okay|fine|alright|good|acceptable|agreeable)", "(|can you|could you|would you|will you|do you) give (me|us) (okay|go ahead|yes|approval|green light|consent|permission|nod)", "how is that", "what do you (say|think)", "okay to", "mind if (i|we)", "if (i|we) (go|proceed|cancel|change|move|charge|book|apply)",
        "(can|may|could|do|shall|might) (i|we) have (okay|confirmation|approval|agreement|blessing|permission|consent)", "confirm (before|so|and i)",
    ),
    "check": (
        "(is|was|are) (that|it|all|everything|details|both|they|information|i|we) (correct|right|accurate|true|case|you|yours|up to date|match)",
        "(did|do|have) (i|we) (get|understand|hear|have|catch|note|read) (that|it|you|everything|all) (right|correctly|correct|properly)",
        "am i (right|correct|understanding|reading|hearing)", "(does|do) (that|it|they|everything|details) (|all) (look|match|sound|seem)",
        "to (confirm|recap|summarise|sum up|repeat|double-check)", "let (me|us) (confirm|recap|summarise|repeat|double-check|verify|read|run through|make sure|check i have|sum up|play)", "making sure", "make sure", "correct me if",
        "is (that|it) what (you|we|i)", "is not (it|that)", "do not you", "are not you", "is that", "(read|say) (it|that) back", "if i understand", "as i understand", "would that be", "that would be", "(can|may|could) (i|you) confirm",
        "(confirm|verify|validate|acknowledge) (that|if|whether|it is|following|below)", "i (take it|believe|assume|gather)", "i understand (you|that)", "i (have|got) (you|it|that) (down|as)", "you (said|mentioned|are saying|stated)",
        "that is you", "am i (speaking|talking|chatting)", "speaking (with|to)", "talking (with|to)", "is this", "are you", "still (correct|right|valid)", "correct", "right", "yes", "confirm", "accurate", "(am i|are we) (speaking|talking)",
    ),
    "alternative": (
        "(would|will) you (|rather) (like|prefer|want|take|consider|be interested|be open|fancy|care)", "(do|did) you (|rather) (prefer|want|fancy)", "would you rather", "which (one|option|would|do|alternative|suits|of)",
        "(how|what) about", "(offer|propose|suggest)", "alternative", "alternatively", "instead", "option", "interested in", "open to",
        "(there is|there are|i have|we have|we do have) (|one|two) (available|alternative|option|room|suite)", "(is|are) available", "(i|we) (can|could|may|might|would) (|be able to|be happy to|be glad to)",
        "(can|could|may|shall) (i|we)", "(you|one) (can|could|may|might|are welcome to|would be able|are able)", "(prefer|rather|choose|pick)", "up to you", "choice", "in exchange", "what if",
        "(happy|glad|able|like|possible|willing) to (offer|propose|suggest|give|move|put|switch|waive|arrange|provide)", "(we|i) (will|would) (give|waive|offer|move|put|add|throw)", "complimentary", "as (gesture|courtesy|goodwill)", "gesture of",
    ),
    "done": (
        "(booking|stay|first|one|it|charge|fee) (is|are) out of (system|books)", "all (done|set|sorted|taken care|settled|fixed|arranged|complete|booked|in order)", "(it|that|which|everything|both|all) (is|are|has been|have been|was|were) (|all|both) (done|sorted|taken care|through|complete|settled|set|arranged|resolved|fixed|in place|dealt with|effective|live)",
        "(gone|went) (through|out|back)", "(limit|amount|order) (has gone|went) (up|down)", "(limit|card|order) is active", "(arrived|landed) (in|on|at) account", "limit is up to", "taken care of", "on way", "(is|are) (good to go|complete|successful|in effect|in place|cleared)",
        "(check out|change|upgrade|extension|correction) (is|are) in system", "there you go", "you are (all set|set|confirmed|in)", "you are (good|fine|okay) (until|till|til|to stay)", "ur good (until|til|till)", "dealt with", "managed to", "(was|were|been) able to (cancel|refund|change|move|book|waive|process|complete|upgrade|extend|apply|remove|arrange|issue|get|make|secure|reverse|add|do|correct|update|fix|have|sort)",
        "consider (it|that) (done|arranged|sorted|settled|fixed|cancelled|booked|moved|refunded|gone)", "(invoice|receipt|copy) (should|will|must) be in", "(refund|money|funds|credit|amount|it|that|reimbursement) (should|will|would) (appear|show|arrive|reach|land|be credited|be back|be with|be visible|hit|be in|be on|come)",
        "(refund|money|funds|credit|amount|cancellation|change|transaction|it) (took|has taken) (place|effect)", "(charge|fee|it|item|amount|booking|they|both) (is|are) (gone|off)", "done", "success", "successful", "mission accomplished", "(money|amount|refund) (is|are) (coming|going|travelling) back", "(can|may) consider (it|that|matter|this) (closed|resolved|settled|done)",
    ),
    "refused": (
        "(turned|turning|turn) (it|that|you|request|refund|us|me|) down", "(said|says|say|answered|gave) no", "answer (is|was|remains) no", "(have|has|had|must|need|going|obliged|forced|required) (|to) (decline|refuse|reject|deny|turn down)",
        "non (refundable|changeable|cancellable|transferable|modifiable|returnable|amendable)", "(insist|insists) (on|upon|that)", "(is|are) (strict|firm|final|unchangeable|binding)", "no money back", "(have|has) to (keep|stay with|pay|hold you to)", "(is|are) out of (suites|rooms|rooms of)", "(have|has) to be (present|same|original|old|booked)", "(nothing|not) something (we|i|hotel)", "(no|not) part of", "(not|never) (in|within) (power|gift|hands|remit|discretion)", "nonrefundable", "is no from", "charge (you|) (full|whole) (amount|price|stay|rate|fee)", "against (policy|rules|terms|regulations|procedure|hotel|company)", "out of question", "not option", "no (exception|reversal|payout|recall|refund|possibility|way|option|availability|compensation|reimbursement|flexibility|other option|alternative|leeway|discretion|entitlement|adjustment|basis|grounds|reduction|discount|vacancy|suites|rooms|room|right to|provision|chance)",
        "sold out", "(promised|given|let|sold|assigned|allotted|reserved|booked) (to|for|by) (another|someone|other)", "fully booked", "too late", "(outside|past|beyond|after|missed) (|of|that|free) (|cancellation|refund|return|free|24 hour|48 hour|notice|permitted|allowed|eligible) (window|period|deadline|limit|cut-off|timeframe)",
        "deadline (has|is) (passed|over|past|gone|expired)", "out of time", "owe you nothing", "(above|over|beyond|more than) what we (allow|can|may)", "(will|would) not be any (compensation|refund|money|reimbursement)", "not (tell|give|say) you anything", "too (old|long ago) to", "(beyond|outside|past|over) (time|filing) (limit|window|period)", "nothing is (owed|due) to you", "there is no money", "(deposit|term) (has|have) to run", "(has|have|is) expired", "ineligible", "prohibit", "(forbidden|forbid|forbids)", "(disallow|disallowed)", "nothing (|more|else|further) (|that) (i|we|to|can|could)", "nothing can", "nothing (|else) (is|are) (available|free|left|possible)", "(have|has|got|there is|there are) no (|other|better|more|further|free|such|suitable) (room|suite|availability|vacancy|space|table|option|bed)", "hands are tied", "regret (to|that)",
        "(decision|answer|this|that) (is|remains|stays) final", "no longer (possible|free|refundable|eligible|available|be|offer|apply|valid|changeable|cancellable|modifiable|refund|change|cancel|recall|reverse|dispute|release|stop|return|raise)", "forfeit", "forfeited",
        "(policy|rules|terms) (is|are) (clear|strict|firm)", "not in position", "impossible", "(afraid|sorry) (|but|it is|that is|answer is) (no|not)", "(stick|stand) (to|by|with)", "have to (follow|stick|respect|stand|adhere)", "rules are rules", "beyond my (control|power|authority)", "beyond what (i|we) (can|could)", "(decided|decide|ruled|spoke|voted) against", "unable", "(has|have) to stay", "must (stay|stand|remain)", "(charge|bill|fee|invoice|amount) (is|was) (correct|valid|justified|right|legitimate|accurate|in order)", "all (|suites|rooms|of them) (is|are|have|have been|has been) (taken|booked|gone|occupied|full|sold)", "(system|rate|tariff|hotel|policy|program|computer) (refuses|rejects|declines|blocks|bars|rules out)", "nothing in (terms|policy|rules|contract|conditions|agreement|system) (that|which) (lets|allows|permits)", "(has|have) (someone|somebody|another guest|guests|people|new guests|other guests) (coming|arriving|moving|checking) (into|in) (that|room)", "(has|have) got (someone|somebody|another guest|guests|people|new guests|other guests) (coming|arriving|moving|checking) (into|in) (that|room)", "(every|each|any) (|single|last) (suite|room|one|deluxe) (|we have) (is|has been) (taken|booked|gone|occupied|full|sold|reserved)", "no (other|better|more|further|such|suitable|larger|bigger|nicer|higher|free) (room|rooms|suite|suites|availability|vacancy) (|is|are) (left|free|available|open)", "(we|hotel|house) (are|is) (full|booked|packed)", "(week|weekend|period|month|day|dates|calendar|everything) (is|are) (full|packed)", "is latest (we|i) can", "nothing (comes|goes) back", "(room|rooms|suite|suites|they|all) (is|are) spoken for", "(we|you) are (past|beyond|over|outside) (that|it)", "too (close|near|soon) (to|before) (arrival|date|day|stay|event)", "(room|suite|date|dates|night|nights|they|both) (is|are) (taken|sold|booked out|occupied)", "(room|suite|date|dates) (is|are) gone", "charged (right|correct|proper|agreed|usual|normal) (price|amount|rate|fee|sum)", "(ask|tell|let|get|have) (him|them) (|to) (contact|call|write|reach|phone|email|ring) us", "(have|let) (call|phone|ring|contact|email) us", "no (authority|permission|power|mandate|rights) (to|for|over|on)", "not (foreseen|doable|intended|on cards|on table|workable|negotiable|provided for)", "(will|can|could) be no (refund|credit|compensation|money|reimbursement|reduction|waiver|change|adjustment|payment|discount|extension|exception|upgrade)", "(answer|decision|reply|verdict) (|came|come|is|was) (|back) negative", "shook head", "no further (change|refund|reduction|discount|extension)", "(keep|prevent|stop|bar|hinder|bind) (me|us|hands) from", "as far as (i|we) can go", "(remain|clear|firm|definite|final|definitive) no",
        "(he|she) (has to|must|will have to|would have to|need to|has got to) (contact|call|write|reach|phone|email) us", "(guest|holder|owner|husband|wife|customer|booker|himself|herself) (has|have|must|need|will need|would have|would need|should) (to|) (contact|call|write|speak|reach|confirm|authorise|email|phone)", "(discuss|talk about|speak about|share) (it|that|booking|anything|details) with (guest|holder|booker|owner)", "exclude", "off table", "unsuccessful", "(call|contact|write|reach|phone|email|speak to) (|to) us (himself|herself|themselves|in person)", "take (that|it) back",
    ),
    "kept": (
        "(is|was|been) no (mistake|error)", "that is what (we|everybody|everyone|all) (charge|pay)",
        "(nothing|none of it|none of them) will be", "no (change|action) (|has|have|was|were|will) (|be|been) (made|taken|applied)", "(stay|remain|left) on (bill|folio|account|invoice|record)", "(charge|fee) (stand|stay|remain)", "nothing (has|was|is) (|been) (changed|changing|cancelled|released|moved|altered|touched|refunded|added)",
        "(leave|left|stay|remain|keep|kept) (|it|booking|that|everything|all|them|stay|reservation|room|rooms|fee|charge|bill) as (it|they|that) (is|are|was|were|has been|have been|stand)", "as (it|they) (was|were) before",
    ),
    "pending": (
        "pending", "await", "(waiting|wait) (for|on) (papers|documents|passport|identity|proof|statement|manager|approval|answer|decision|response|reply|team|supervisor|feedback|review|partner|outcome|them|him|her|sign-off|someone)", "out of hands", "(make|makes|made|take|takes) (decision|decisions|call|calls)", "(they|he|she|department|team|desk|office|housekeeping|colleague|manager|accounting|accounts|people) (have|has) (case|file|request|claim|matter)", "under (review|examination|investigation|consideration|inspection|study|scrutiny)", "(on|to) (waiting list|waitlist|wait list)", "being (checked|verified|compared|decided|traced|audited|evaluated)", "(is|are|being|be) (reviewed|looked at|looked into|investigated|assessed|considered|examined)",
        "(recall|trace|dispute|request|search) is running", "(mum|mother|father|parent|parents|guardian|aunt) (has|have|needs|need|must) (to|) (agree|approve|sign|confirm|consent)", "(is|are|be) up to (|other|receiving) (bank|recipient|team|manager|desk|department|them|him|her|colleague|colleagues|merchant|payee)", "no (answer|decision|response|reply|word|verdict|feedback)", "(have|has|is|are|been) not (|been) (decided|finished|answered|responded|replied|come back|heard|reviewed|reached|determined|ruled)", "(has|have|is) yet to", "yet to (|be) (answer|decide|respond|reply|approve|hear|come|review)",         "(remain|is|stay) (open|outstanding|undecided|unresolved)", "(case|request|ticket|it|refund|claim|matter) (is|are) on hold", "(put|placed) (it|request|case|refund|claim) on hold", "in (queue|progress|review|hands)",
        "(with|before|in front of) (manager|supervisor|finance|department|specialist|billing|management)", "will (decide|review|investigate|take over|assess|examine)", "take it from here", "take over", "decision (is|will be) (made|taken|with)", "waiting list", "waitlist",
        "(did|has|have) not (reply|replied|respond|responded|answer|answered|decide|decided|come back|get back)", "(someone|somebody|team|manager|colleague|specialist|department) will", "(first|next|top|second|high) (on|in|of) (list|line|queue)", "have (last|final) (word|say)", "(have|need|has|needs|must) (|to) be (confirmed|approved|signed|agreed|cleared|decided|reviewed|authorised) by", "(sit|sits|sitting) with", "next business day", "(inquiry|enquiry|investigation|review|examination|check) (is|are) under way",
    ),
    "contact": (
        "(be|get|come) (back|in touch|in contact)", "(call|phone|ring|contact|inform|notify|update|message|email|mail|write) you", "follow up", "call back", "callback", "reach out", "(be|are) (contacted|notified|informed|called|updated|phoned)",
        "hear (|back) (from|once|by|within|as|when)", "(receive|get|expect|have) (call|update|answer|reply|response|decision|word|email from|message from|notification|feedback)", "(let|keep) you (know|posted|updated|informed|in loop)", "keep you", "(reply|respond|report|answer|write) (|back) to you",
    ),
    "obstacle": (
        "(manager|supervisor|someone) (has|needs|must|will have|would have|have|need) (|to) (approve|authorise|sign|review|agree|decide|okay)", "(ask|asking|asked|check with|checking with|speak to|speak with|talk to|consult|consulting|contact) (|with) (manager|supervisor|team|colleague|duty|management)",
        "(request|requesting|requested|seek|seeking|ask for|asking for|asked for) (approval|authorisation|permission|sign-off|manager)", "(above|over|exceed|beyond) (limit|authority|threshold|what i)", "put (in|forward|through) request",
    ),
    "record": (
        "i (|can) (see|notice|read)", "(show|indicate|appear|seem|look like)", "according to", "per (records|system)", "(records|system)", "on (file|record|system|screen)", "(i|we) (|have) (found|located|pulled|looked|checked|reviewed|opened)", "(was|were) (booked|paid|originally)", "originally", "you (booked|paid|made|cancelled|chose|selected)", "via", "last (week|month|year)", "yesterday", "previously", "looking at", "under name", "in past", "some time ago", "earlier this",
    ),
    "hyp": ("if", "unless", "once", "whenever", "as soon as", "in case", "(provided|providing|assuming|supposing)", "whether", "in event", "when", "until", "till", "should (you|he|she|they|manager|it|there|anything|that|supervisor|refund|plans)", "before", "depend"),
    "wait": (
        "(one|1|two|2|three|five|5|ten|10|few|couple|another|short|brief|give me|give us|in|couple of) (moment|minute|second|mo)", "moment", "(minute|second|bit) while", "hold (on|line|tight|while)", "hang (on|tight)", "bear with (me|us)", "stand by", "please standby", "be right (back|with)", "(be|come|am) back (in|shortly|here)", "back in (moment|minute|second|few)", "while i", "(am|are|get|getting|jump|right) on it", "give me (time|some time|few)", "(give|grant|allow|spare) (me|us) (|one|two|another|few|couple of) (more|another|additional) (minute|moment|second)", "(have|take) (|quick|closer) look", "take (moment|minute|second|few)", "working on (it|that)", "stay (on line|with me|connected)", "brb", "in process of", "wait (for me|here|while)", "(few|need) (moment|minute|second)", "need (bit|few|time)", "momentarily", "back shortly", "leave it with me", "not be long", "almost (there|done)", "(tick|jiffy|jiff)", "(remain|keep|stay) (on line|patient|seated|online)", "be patient", "(little|some|bit of|few|short|small) (while|time|patience|indulgence|moments|delay)", "(beg|ask|request|need|for) patience", "(ask|beg|for) (|little|some) indulgence", "(ask|beg|request|invite) you (|to) (wait|hold|be patient|stay|bear)", "wait (little|short|bit|while|moment|few|some|until i|till i)", "(you|must) wait", "while (register|ledger|system|file|it|that|record|records|matter|page|screen|computer|program)", "(allow|grant|permit) (me|us) (|few|little|some|short|moment)", "(give|gimme) (me|us) (5|10|15|2|3|five|ten|two|three|second|few|little)", "nearly (there|done)",
    ),
    "second": (
        "(second|other|next|further|third) (request|thing|matter|one|point|question|issue|topic|concern|part|wish|trip|stay|booking|enquiry|inquiry|problem)", "(request|thing|matter|point|question|issue|topic) (number|) (two|2)", "two (things|requests|matters|points|questions|issues)",
    ),
    "retry": (
        "try (|once more|one more|it|them)", "once more", "one more time", "(check|verify|review|correct) (them|it|details|data|spelling|that|information)", "(other|different|correct|right) (details|data|information)", "give me (them|it)",
    ),
    "else": (
        "(anything|something|what|whatever|nothing|someone) else", "(other|further|more|additional|another|any other|any further|still some|some other) (wish|wishes|service|matter|matters|need|needs|point|points|thing|things|topic|issue|enquiry|inquiry|problem|query|commission|order|errand|instruction|instructions|favour|desire|business)",
        "(have|got) (any|some|another|more|other|further) (question|wish|wishes|request|queries)", "(have|got) (question|queries)", "any wishes", "besides", "(of|be) (|any) (|further|more|other|additional) (use|service|assistance|help) (further|today|otherwise|in|to you|as well)", "of further (use|service|assistance|help)", "(useful|helpful) (in|with|for) (any|some) (|other|further)", "(do|something|anything|do anything|do something) (more|further) (for|to|with|today)", "(anything|something) (|i|we) (can|could|may|might) (do|add)", "(anything|something) (more|further|different)", "else (i|we|that|you|can|for|with|today|at)", "any (other|further|additional|more|) (question|request|concern|thing|issue|matter|way|query|queries)", "any (question|concern|query|queries)", "(other|further|more|additional) (question|assistance|help|request|concern|support|query|queries|way)",
        "(is|was|will|would) (that|it) (|be) (all|everything)", "that (be|is|covers) (all|everything)", "(help|assist) (you|) (further|more)", "need (anything|something|further|more help)", "have i (answered|covered|addressed|resolved|helped)", "(all|everything) you (need|needed|wanted)", "other way",
    ),
    "bye": (
        "(goodbye|bye|farewell|cheerio|adieu|ciao|cya|bb|toodle|ta-ta)", "(until|till) (soon|later|tomorrow|then|we meet)", "remain for (me|us) to", "so long", "yours (faithfully|truly|sincerely|respectfully)", "(we|i) remain", "sleep well", "(good|pleasant|nice) (travels|journey|travel|trip|flight|stay)", "all (the|) best", "(have|much) fun", "(goodbye|bye) for now", "signing off", "we are (done|finished|through)", "over and out", "(catch|talk to) you (later|soon)", "until (next|another) (time|visit|stay)", "wish (you|all)", "hope (you|that you) enjoy", "(conversation|chat|session|call) (is|was) (concluded|closed|over|finished|ended|at end)", "good (night|bye)", "have (|very|yourself) (nice|great|good|lovely|wonderful|pleasant|fantastic|blessed|safe|excellent|beautiful|amazing) (day|evening|one|night|weekend|afternoon|morning|rest|week|trip|time|stay|journey|flight)", "take care",
        "(thank you|thanks|thank) (|so much|very much) for (calling|contacting|choosing|reaching out|staying|chatting|speaking|getting in touch|call|time|business|loyalty|writing|visiting)", "see you", "all best", "look forward to", "hope to (see|welcome|serve)", "enjoy (|last|remaining|final) (stay|day|evening|weekend|trip|rest|holiday|night|morning|days|hours)", "safe (travels|journey|trip|flight)", "(close|end|closing|ending|conclude|disconnect|wrap up|finish|leave|terminate) (|up|that|off) (chat|conversation|call|session)", "(until|till) (|day of) arrival", "see you (on|at|then)", "wish you", "until next time", "speak soon", "(best|kind|warm) regards", "sincerely", "rest of day", "welcome you (again|back)",
    ),
    "greet": ("(hello|hi|hey|greetings|howdy)", "good (morning|afternoon|evening|day)", "welcome to", "(you have reached|through to|you are speaking to)", "nice to meet", "pleasure to", "name is", "at your service"),
    "smalltalk": ("how (are|is) (you|it|everything|day|today|things|life)", "(hope|trust) (you|that|day|all|it) (is|are|had|have|finds|find)", "how do you do", "how have you been"),
    "help": ("(here|happy|glad|ready|pleased|delighted|love|like) to (help|assist|support|look|sort)", "(can|will|could|would) (certainly|definitely|absolutely|surely|be able to|try to|do best to|do what|do everything|) (help|assist|sort|look)", "(assist|help) you", "of (help|assistance|service)", "do (|my) best", "see what (i|we) can"),
    "empathy": (
        "(sorry|apologis|apologies|apologize)", "(understand|appreciate|realise|imagine|hear)", "(frustrating|frustration|upset|upsetting|difficult|disappointing|disappointed|disappointment|inconvenience|stressful|annoying|annoyed|sad|tough|unpleasant|painful|worrying|hard)", "(thank|thanks|cheers)", "no (problem|worries|rush|hurry|bother)", "of course",
        "(certainly|absolutely|definitely|sure|naturally|noted|understood|perfect|great|excellent|wonderful|lovely|fantastic|awesome|brilliant|super|okay|fine|alright|gladly|welcome|right|good|yes|cool|superb|splendid|terrific)", "(got|get) it", "(happy|merry) (anniversary|birthday|holidays|christmas|honeymoon)", "all right", "very well", "my pleasure", "fair enough", "makes sense", "not problem", "feel for you", "(condolences|sympathies|sympathy|sympathise|heart goes)", "congratulations", "take time", "in good hands", "(gladly|with pleasure)",
    ),
}  # fmt: skip
EXAMPLES = frozenset(stems("eg example instance format looks starts begins beginning"))
OTHERS = each("us support hotline office front-desk desk")
"""Next to a value they mark it as the company's own (write to *us* at …)."""
TITLES = each("mr mrs ms miss dr")
CURRENCY = each("usd eur gbp chf dollar euro pound")
