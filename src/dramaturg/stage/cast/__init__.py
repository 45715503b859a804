"""Who plays what.

In: open models, scripts and people. Out: a cast that gives every role its seat.
"""

from dramaturg.stage.cast.seat import Cast, HumanSeat, ModelSeat, Reader, Seat

__all__ = ["Cast", "HumanSeat", "ModelSeat", "Reader", "Seat"]
