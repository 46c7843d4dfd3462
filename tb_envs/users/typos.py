"""Slips of the pen in the words that matter: one letter too many, too few, wrong, or two swapped.

Refuses to touch a word that exists: `REAL` lists the English words that are one slip away from a word of interest.
"""

from __future__ import annotations

from .spelling import each

WORDS = each(
    "about accept account address after agree amount another anything approve approved arrival available because"
    " before birth booking breakfast cancel cancellation canceled cancelled category change changed charge charges"
    " check company completed confirm confirmation confirmed continue correct could credited current dates declined"
    " deluxe departure details difference digits earlier email ending extra family first group guest guests hotel"
    " identity information invoice later licence license loyalty manager member membership minibar mobile"
    " necessary needed night nights number options original parking phone plate please possible postcode prefer"
    " price proceed processed property provide question reason receipt reference refund refunded refused released"
    " request reservation right room rooms second share should something sorry spell street suite surname telephone"
    " thank thanks today tomorrow total traveller unable understand unfortunately until upgrade upgraded verify"
    " where whether which would"
)
"""Words of interest, nearly all of five letters and more."""
REAL = each(
    "abort abut accent accepts accounts agreed agrees alter amounts anther anythings approves aright arrivals"
    " aster barking bates bending bequest berth birch births bookings booming booms booting bout breakfasts bright"
    " brooms cancelation canceled cancellations cancels cancer cater chance chanced chang changer changes chanted"
    " charged charger chargers charles checks cheek chick chock chuck cold competed complete completes"
    " confirmations confirms conform conformation conformed continued continues cooking corrects croup currant"
    " currents dales dames danes dares date dated dawes decline declines deeded deference defused delude deluge"
    " departures derails detail differences digit dooms dotes dumber eater eight eights emails ember emil enable"
    " endings extras fates fending fight fights firs firsts fist fright gates girth grooms groups grout guess gust"
    " gusts hanged hank hanks hare hater hates heck heeded here hight hone hostel hotels hovel identify invoiced"
    " invoices iphone knight knights lager laker lamer larking laser late latex lather latter laver layer lease"
    " lending licences licensed licenses light lights liter looking looms lorry loyally lumber mail manage managed"
    " managers manages manger marking mater mates members memberships mending might mirth mobil mobiles motel"
    " mount needled nigh nighty numbed numbers oates option originals packing palate paring parsing parting pate"
    " pease pending perking phoned phones phoney phony pilate place plane plated plates plato pleas pleased"
    " pleases pone possibles possibly potions prate preference prefers preservation priced prices pricey prick"
    " pricy pride prime prince prize proceeds processes professed prone properly provided provider provides quest"
    " questions quests quite rafter rates reasons receipts reclined recused refer referenced references refunds"
    " refuse refuses refuted release releases rending requests reservations retails reused reverence rice rights"
    " roam roams roof roofs rook rooks roomy root roots royalty scare season seconds seeded sell sending shade"
    " shake shale shame"
    " shane shank shanks shape shard shared shares shari shark sharp sharpe shave shell shire shone shore sight"
    " sights site slate slater smell smite snare somethings spare sparking spells spelt spill spite stare streets"
    " suit suited suites suits surnames swell tank tanks tater telephoned telephones tending than thana thane"
    " thanes there think thinks tight tights toady toddy tomorrows tonal totals traveler travelled travellers"
    " treason trice umber understands untie upgrades usable vending verily verity water weeded wending were wether"
    " whee wheres whither wight wold world worry wound wright yates zooms"
    " nicht nichts nummer laten trank richt streek stell groep groupe membre plage plat plata platen prie prise"
    " spel toda todas totaal seconde questione suive prever continuo daten dites geest gunst lauter coule"
)


def _shorter(word: str) -> list[str]:
    return [word[:at] + word[at + 1 :] for at in range(len(word))]


_BY_SHORTER: dict[str, list[str]] = {}
for _word in sorted(WORDS):
    for _less in {_word, *_shorter(_word)}:
        _BY_SHORTER.setdefault(_less, []).append(_word)


def mended(word: str) -> str:
    """The word of interest that `word` is one slip away from, else `word`."""
    if len(word) < 4 or word in WORDS or word in REAL:
        return word
    for less in (word, *_shorter(word)):
        for near in _BY_SHORTER.get(less, ()):
            if near[0] == word[0] and _one_slip(word, near):
                return near
    return word


def _one_slip(word: str, near: str) -> bool:
    """Whether one letter is added, left out or wrong, or two neighbours are swapped."""
    if len(word) != len(near):
        return abs(len(word) - len(near)) == 1
    differ = [at for at in range(len(word)) if word[at] != near[at]]
    if len(differ) < 2:
        return True
    at, then = differ[0], differ[-1]
    return len(differ) == 2 and then == at + 1 and word[at] == near[then] and word[then] == near[at]
