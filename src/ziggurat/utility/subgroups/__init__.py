"""What privacy does to groups of people: errors of models, counts and means of tables, group by group."""

from ziggurat.utility.subgroups._errors import ErrorRange, GroupCost, GroupedErrors, compare_groups
from ziggurat.utility.subgroups._kept import GroupKept, GroupSizes, KeptGroups, compare_group_counts
from ziggurat.utility.subgroups._paid import CountedErrors, count_errors_privately

__all__ = [
    "CountedErrors",
    "ErrorRange",
    "GroupCost",
    "GroupKept",
    "GroupSizes",
    "GroupedErrors",
    "KeptGroups",
    "compare_group_counts",
    "compare_groups",
    "count_errors_privately",
]
