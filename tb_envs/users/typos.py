"""Slips of the pen in the words that matter, and words written as they sound ("wich nite", "konfirmashun").

Refuses to touch a word that exists: `REAL` lists the words, English and other, that would be taken for a slip.
"""

from __future__ import annotations

import re

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
SHORT_WORDS = each(
    "arrive card choir city club code come date days digits dont four from give have hotel hour last leave mail many"
    " month much must name need send stay team tell that then this time type until used wanted want were what"
    " when who year your full given moved paid park parked previous street family"
)
"""More of them, where only two letters swapped, a letter doubled, or another spelling of the same sound is a slip."""
REAL = each(
    "abort abut accent accepte accepts accounts adresse afters agee agreed agrees alter amounts anther anythings"
    " approver approves apter archival aree arriva arrivait arrivals arrivare arrivasse arrivate assailable aster"
    " atout barth berth birch births bonking boobing booing bookings booming booting boozing breakfasts broking"
    " brooking bucking caird cancela cancelation canceler cancella cancellations canceller cancelli cancello cancels"
    " cancer candele categoria categoric categories categorize chagres chance chanced chancel chang changer changes"
    " changez chante chanted chare charged charger chargers charles charme checks checky cheek chick chock chuck"
    " clanged coed cold collect collecte comme compagni compagnie companies competed complected complete completer"
    " completes compony confier confirmations confirme confirmer confirms conform conformation conforme conformed"
    " connect contenu contiene contient continu continua continued continuer continues continuez continui continuo"
    " continuous continuum correcta correcto corrects corrente coule counsel courant courante courent currant"
    " currents dace daces dais dales dames danes dares dass dated daten dater daters dawes daze dazes decals decline"
    " decliner declines deference delude deluge departures derails detail detains diferente differences different"
    " differente differenza differenze digit digitize dites dotes eire emails emil endings enduing entra extras eyre"
    " facili famiglie familia familie familier families firs firsts fist fool form foul foule fromm geest gest groep"
    " groupe groups grout guess guesses gunst gussets gust gusts gyve hoor hostel hotels hovel huur identify"
    " identiteit identities informations invoiced invoices irre komm komme lacer lager laker lamer laser lasst late"
    " lated laten latex lather latir lats latter lauter laver laxer layer leasers leavens lessens licenced licences"
    " licensed licensee licenser licenses licente licenza lichens lieve lightens likens limens linens lisente"
    " listens liter live livens loosens loyally loyalties maal maiale male mali mall manage managed managers manages"
    " manger mani members memberships membre millibar minibars mobiel mobiele mobil mobiles mobili mooch motile"
    " mouche musst musste muts naam neat necesaria necesario necessari necessaria necessarie necessaries necessario"
    " needled nicht nichts nide niet niets nigh nighty nite nits numbed numbers nummer oozed option originale"
    " originali originally originals originate origineel originele packing palate parc paring parkin parring parsing"
    " parting passible pate pease perking pervious phoned phones phoney phons phony pice pilate plaat place plage"
    " plaie plait plane plante plat plata plated platen plater plates plath plato plats platte platy pleas pleased"
    " pleases plies pone posable posible possibile possibles possibly postcodes prate precessed precious prefers"
    " premere presser prever previews previze preys priced prices pricey prick pricy pride prie pries prime prince"
    " pris prise prize procede proceeds processes professed proffer prone properly propertied properties proved"
    " proveer provided provider provides proviene questione questioni questions reasons rebound receipts recept"
    " recused redound reet referenced references referent referente referents referenze referrers refound refunds"
    " refuse refuser refuses refusez refuted release releaser releases requests reservations resound reused"
    " reverence rewound richt righe righto rights rite roam roams rood roods roof roofs rook rooks roomy roos root"
    " roots rums scare scend scende seconda seconde secondi secondo seconds secund sell shade shake shale shame"
    " shane shape shard shared sharer shares shari shark sharp sharpe shave shell shire shore site siti skite smell"
    " smite snare snell somethings sori spall spare speel spel spells spelt spill spite stai stare stell streek"
    " streets suit suited suites suits suive surinam suriname surnames surnom swell tank tanks teem telefoni"
    " telefono telefoon telephoned telephoner telephones telephony telle tema than thana thane thanes thanh thant"
    " thees think thinks toady toda todas toddy tody tokay tomorrows tonal totaal totale totals trammeler trank"
    " travailler traveled traveler travelers travelled travellers understands ungraded untie upbraid upgrades usable"
    " verbify verified verifier verifies verily verity versify wait waite watt weather weer wenn wether wethers whee"
    " wheres whetter whish whither whore witch wither woald wold world woulds wound ziti zitti"
)


_SPELLED = {
    "ph": "f", "ght": "t", "tch": "C", "ch": "C", "wh": "w", "ck": "k", "qu": "kw", "tion": "sn", "sion": "sn",
    "shun": "sn", "ce": "se", "ci": "si", "cy": "si", "c": "k", "z": "s", "ea": "i", "ee": "i", "ie": "i", "ei": "i",
    "ey": "i", "y": "i", "oo": "u", "ou": "u", "ai": "a", "ay": "a",
}  # fmt: skip
_SPELLING = re.compile("|".join(sorted(_SPELLED, key=len, reverse=True)))
_TWICE = re.compile(r"(.)\1+")


def _sound(word: str) -> str:
    """About how a word sounds; a doubled letter counts once."""
    word = _SPELLING.sub(lambda found: _SPELLED[found.group()], _TWICE.sub(r"\1\1", word))
    word = _TWICE.sub(r"\1", word)
    return word[:-1] if word[-1:] == "e" and len(word) > 2 else word


def _shorter(word: str) -> list[str]:
    return [word[:at] + word[at + 1 :] for at in range(len(word))]


_BY_SHORTER: dict[str, list[str]] = {}
_BY_LETTERS: dict[str, list[str]] = {}
_BY_SOUND: dict[str, str] = {}
_BY_SHORTER_SOUND: dict[str, list[str]] = {}
_CLEAR = 6
"""Sounds of a word from which on one of them may be another."""
for _word in sorted(WORDS):
    for _less in {_word, *_shorter(_word)}:
        _BY_SHORTER.setdefault(_less, []).append(_word)
for _word in sorted(WORDS | SHORT_WORDS):
    _BY_LETTERS.setdefault("".join(sorted(_word)), []).append(_word)
    _heard = _sound(_word)
    _BY_SOUND.setdefault(_heard, _word)
    if len(_heard) >= _CLEAR and not _word.endswith(("ing", "ed")):
        for _less in {_heard, *_shorter(_heard)}:
            _BY_SHORTER_SOUND.setdefault(_less, []).append(_word)


def mended(word: str) -> str:
    """The word of interest that `word` is a slip of, else `word`."""
    if len(word) < 4 or word in WORDS or word in SHORT_WORDS or word in REAL:
        return word
    for less in (word, *_shorter(word)):
        for near in _BY_SHORTER.get(less, ()):
            if near[0] == word[0] and _one_slip(word, near):
                return near
    for near in _BY_LETTERS.get("".join(sorted(word)), ()):
        if near[0] == word[0] and _one_slip(word, near):
            return near
    heard = _sound(word)
    same = _BY_SOUND.get(heard)
    if same is not None:
        return same
    if len(heard) >= _CLEAR:
        for less in (heard, *_shorter(heard)):
            for near in _BY_SHORTER_SOUND.get(less, ()):
                if near[0] == word[0] and _one_slip(heard, _sound(near)):
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
