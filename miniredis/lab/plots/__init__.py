"""Figures. The only package that uses matplotlib.

A plot function draws into the axes it is given (or new ones) and returns them; a page
function returns a figure of several; ``alt_text`` functions say the same in words.
"""

from miniredis.lab.plots.decay import (
    beside_alt_text,
    beside_page,
    decay_alt_text,
    decay_page,
    plot_beside,
    plot_decay,
    plot_estimates_beside,
)
from miniredis.lab.plots.expiry import (
    alt_text,
    expiry_page,
    plot_lag_ecdf,
    plot_population,
    plot_stale_share,
    plot_work,
)
from miniredis.lab.plots.files import check_target, format_of, save
from miniredis.lab.plots.lifeline import alt_text_lifeline, plot_lifeline
from miniredis.lab.plots.replicas import alt_text_link, plot_link
from miniredis.lab.plots.strategies import (
    plot_cpu,
    plot_held,
    plot_memory,
    plot_owed,
    plot_pauses,
    plot_strategy_lags,
    strategies_alt_text,
    strategies_page,
)
from miniredis.lab.plots.style import BLUE, GREEN, GREY, ORANGE, VERMILLION

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "VERMILLION",
    "alt_text",
    "alt_text_lifeline",
    "alt_text_link",
    "beside_alt_text",
    "beside_page",
    "check_target",
    "decay_alt_text",
    "decay_page",
    "expiry_page",
    "format_of",
    "plot_beside",
    "plot_cpu",
    "plot_decay",
    "plot_estimates_beside",
    "plot_held",
    "plot_lag_ecdf",
    "plot_lifeline",
    "plot_link",
    "plot_memory",
    "plot_owed",
    "plot_pauses",
    "plot_population",
    "plot_stale_share",
    "plot_strategy_lags",
    "plot_work",
    "save",
    "strategies_alt_text",
    "strategies_page",
]
