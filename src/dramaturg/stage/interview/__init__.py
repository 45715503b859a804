"""Ask characters one question each.

In: an item set, a strategy and a form. Out: for each item the messages that put it to a model.
"""

from dramaturg.stage.interview.asking import CONDITIONS, Asking, Condition, asked_as, item_digest
from dramaturg.stage.interview.forms import FORMS, Form
from dramaturg.stage.interview.item import CATEGORIES, LABELS, Category, Item, Said
from dramaturg.stage.interview.item_set import (
    ItemSet,
    ItemSetHead,
    import_published,
    item_set_of,
    read_item_set,
    shipped_sets,
    write_item_set,
)
from dramaturg.stage.interview.published import ItemProblem
from dramaturg.stage.interview.strategies import STRATEGIES, Strategy, read_strategy

__all__ = [
    "CATEGORIES",
    "CONDITIONS",
    "FORMS",
    "LABELS",
    "STRATEGIES",
    "Asking",
    "Category",
    "Condition",
    "Form",
    "Item",
    "ItemProblem",
    "ItemSet",
    "ItemSetHead",
    "Said",
    "Strategy",
    "asked_as",
    "import_published",
    "item_digest",
    "item_set_of",
    "read_item_set",
    "read_strategy",
    "shipped_sets",
    "write_item_set",
]
