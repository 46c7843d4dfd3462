"""The fixed part of the bank: its clock, where its customers shop, the limits and rates it starts with.

Refuses to hold a rule: what the handbook decides is in `tb_banking.policy`, and rows are placed by the builders.
"""

from typing import Literal, NamedTuple

from tb_banking.models.kinds import AccountKind, LimitKind, Segment

CLOCK = "2031-09-18T13:40:00Z"
"""The frozen time of the seed, a Thursday; a task begins up to a day later."""

RATE_DAYS = 60
"""How far back rates of the day go."""

CURRENCIES: dict[str, int] = {"CAD": 731_400, "CHF": 1_142_700, "EUR": 1_087_300, "GBP": 1_268_900, "SEK": 95_600}
"""Foreign currencies, and about what one unit is worth in millionths of a dollar."""

START_LIMITS: dict[Segment, dict[LimitKind, int]] = {
    "basic": {"daily_transfer": 1_500_00, "daily_cash": 300_00, "card_spend": 1_200_00},
    "plus": {"daily_transfer": 3_500_00, "daily_cash": 600_00, "card_spend": 3_200_00},
    "premier": {"daily_transfer": 9_000_00, "daily_cash": 1_200_00, "card_spend": 8_500_00},
}
"""What a new current account may pay out in a day, or by card."""

YOUTH_LIMITS: dict[LimitKind, int] = {"daily_transfer": 200_00, "daily_cash": 60_00, "card_spend": 150_00}
LIMITED: dict[AccountKind, tuple[LimitKind, ...]] = {
    "current": ("daily_transfer", "daily_cash", "card_spend"),
    "savings": ("daily_transfer",),
    "youth": ("daily_transfer", "daily_cash", "card_spend"),
}

Trade = Literal[
    "groceries", "fitness", "hotel", "fuel", "streaming", "electronics", "clothing", "restaurant", "software", "books",
    "pharmacy", "taxi", "furniture", "tickets", "flowers", "toys", "parking", "coffee",
]  # fmt: skip


class Shop(NamedTuple):
    """A merchant that takes our cards; `usual` is a payment there in cents, low and high."""

    id: str
    trade: Trade
    statement_name: str
    trading_name: str
    sells: str
    city: str
    usual: tuple[int, int]


SHOPS: tuple[Shop, ...] = (
    Shop("ME-10137", "groceries", "HVT RETAIL 0417", "Harvest Table Market", "groceries", "Albany", (11_00, 140_00)),
    Shop("ME-10284", "groceries", "DLK TRADING CO", "Dillock's Corner Store", "groceries", "Toledo", (4_00, 60_00)),
    Shop("ME-10391", "groceries", "OMG FOODS 22", "Old Mill Grocers", "groceries", "Portland", (9_00, 120_00)),
    Shop("ME-10476", "fitness", "BFT MEMBERSHIPS", "Boulder Fitness", "gym memberships", "Boise", (29_00, 79_00)),
    Shop("ME-10523", "fitness", "PHX LEISURE GRP", "Pulse House", "gym memberships", "Tacoma", (24_00, 65_00)),
    Shop("ME-10618", "fitness", "TRL WELLNESS", "Trillium Yoga Rooms", "yoga classes", "Savannah", (18_00, 58_00)),
    Shop("ME-10742", "hotel", "CRW LODGING 311", "Crestway Inn", "hotel rooms", "Savannah", (120_00, 480_00)),
    Shop("ME-10855", "hotel", "NLH PROPERTIES", "The Lamplighter Hotel", "hotel rooms", "Duluth", (140_00, 620_00)),
    Shop("ME-10963", "hotel", "ESTRELA UNIPESSOAL", "Casa da Estrela", "hotel rooms", "Porto", (90_00, 410_00)),
    Shop("ME-11074", "fuel", "RDX PUMP 58", "Roadrunner Fuel", "fuel", "Tucson", (24_00, 85_00)),
    Shop("ME-11186", "fuel", "KGO ENERGY 1904", "Kingo Stations", "fuel", "Albany", (22_00, 78_00)),
    Shop("ME-11295", "streaming", "LMN DIGITAL", "Lumen Films", "films and series online", "Boise", (8_00, 22_00)),
    Shop("ME-11307", "streaming", "SNGB MEDIA BV", "Songbird", "music online", "Utrecht", (6_00, 17_00)),
    Shop("ME-11428", "electronics", "VXE DIRECT", "Voxel Electronics", "phones, computers", "Tacoma", (45_00, 980_00)),
    Shop("ME-11539", "electronics", "CIRCUITRY LLC", "Gadget Barn", "headphones", "Toledo", (15_00, 420_00)),
    Shop("ME-11641", "clothing", "ATR 1887 GMBH", "Anker & Tau", "coats and shoes", "Hamburg", (35_00, 310_00)),
    Shop("ME-11752", "clothing", "MFL GROUP INTL", "Mayflower Outfitters", "clothing", "Portland", (19_00, 260_00)),
    Shop("ME-11868", "restaurant", "GS HOSPITALITY", "The Green Sardine", "meals", "Portland", (14_00, 130_00)),
    Shop("ME-11973", "restaurant", "RMB DINING 7", "Rosemary's Kitchen", "meals", "Tucson", (12_00, 95_00)),
    Shop("ME-12081", "restaurant", "TOPOLINO SRL", "Trattoria Topolino", "meals", "Bologna", (16_00, 110_00)),
    Shop("ME-12194", "software", "PQ SUBSCR 8005", "Pagequill", "writing software", "Boise", (9_00, 49_00)),
    Shop("ME-12246", "software", "CLDST SERVICES", "Cloudstow", "storage for photos", "Dublin", (3_00, 29_00)),
    Shop("ME-12375", "books", "WRN PRINT MEDIA", "Wren & Daughter Books", "books", "Duluth", (9_00, 85_00)),
    Shop("ME-12483", "pharmacy", "HBK HEALTH 019", "Hazelbrook Pharmacy", "medicines", "Albany", (5_00, 70_00)),
    Shop("ME-12597", "taxi", "HOPLA MOBILITY", "Hopla Rides", "taxi rides", "Tacoma", (7_00, 46_00)),
    Shop("ME-12638", "furniture", "OAKHAUS VERSAND", "Oak & Hearth", "furniture", "Bremen", (60_00, 1_450_00)),
    Shop("ME-12749", "furniture", "SLW HOME 440", "Slowhome", "lamps and rugs", "Savannah", (25_00, 640_00)),
    Shop("ME-12856", "tickets", "ECT EVENTS ONLINE", "Encore Tickets", "concert tickets", "Toledo", (28_00, 290_00)),
    Shop("ME-12962", "flowers", "PTL ORDERS", "Petal Post", "flowers by post", "Portland", (22_00, 90_00)),
    Shop("ME-13077", "toys", "BRX GAMES LTD", "Bramble & Fox", "toys and puzzles", "Leeds", (12_00, 130_00)),
    Shop("ME-13185", "parking", "CTY KERB 6", "Kerbside Parking", "parking", "Albany", (2_00, 24_00)),
    Shop("ME-13290", "coffee", "FNX BEVERAGES", "Copper Kettle Coffee", "coffee and cakes", "Boise", (3_00, 19_00)),
)  # fmt: skip

SHOP_BY_ID: dict[str, Shop] = {shop.id: shop for shop in SHOPS}
